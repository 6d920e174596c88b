#pragma once

#include "dlc/runtime/Rendezvous.h"

#include <string>

namespace dlc::runtime {

/// Of this machine.
std::string hostName();

/// "rank 2 (host b, pid 4711)": this process.
std::string whoIs(const Contract &contract);

/// "10 s".
std::string secondsText(std::chrono::milliseconds time);

/// "generation/0/": in front of the keys of a job.
std::string keyPrefix(const Contract &contract);

/// A point that all ranks reach, or all learn why not. Its keys: `stage`/<rank> who is there, `stage`/count, and
/// `stage`/verdict, set once: "go", or the reason.
class Meeting {
public:
  Meeting(Store &store, const Contract &contract, const std::string &stage, Deadline deadline)
      : store_(store), contract_(contract), deadline_(deadline), prefix_(keyPrefix(contract) + stage + "/") {}

  /// Says that this rank is here; `who` describes it.
  Status arrive(const std::string &who);

  /// All ranks must say the same world size.
  Status agreeOnWorldSize(const std::string &who);

  /// `absence` begins the sentence that names those who did not come.
  Status waitForAll(const std::string &absence);

  /// Rank 0 waits until the others know the verdict, since the store may end with it.
  void seenByAll();

  /// After a verdict against all: who serves the store, or holds its files, waits until the others have heard it.
  void heard();

  /// The first verdict is everybody's, and the caller keeps its own reason.
  Status fail(Status why);

private:
  void waitForCount(const std::string &name, int count);
  StatusOr<std::string> settle(const Status &why);
  std::string missingRanks();
  std::string earlierRun(const std::string &other) const;

  Store &store_;
  const Contract &contract_;
  Deadline deadline_;
  std::string prefix_;
};

} // namespace dlc::runtime
