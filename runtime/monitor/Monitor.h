#pragma once

#include "monitor/Verdict.h"

#include "dlc/runtime/Rendezvous.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dlc::runtime {

/// A thread that tells the other ranks how this one's members are, and hears whom to blame when they wait in vain.
///
/// Rank 0's judges all ranks; the others' judge rank 0, and the store where it serves that. The first verdict is set in
/// the store once and is everybody's.
class Monitor {
public:
  struct Options {
    std::vector<std::string> ranks;                                        ///< what messages call each
    std::vector<std::vector<std::string>> devices;                         ///< the same of each one's members
    std::vector<const Progress *> members;                                 ///< of this process; must outlive it
    std::function<std::string(uint32_t program, uint32_t index)> describe; ///< a collective, for messages
    std::function<void(const Status &verdict)> verdict;                    ///< once, on the monitor's thread
  };

  /// The connection to the store that it has for its own. All ranks have one before any starts.
  static StatusOr<std::unique_ptr<Store>> connect(const Contract &contract);
  static StatusOr<std::unique_ptr<Monitor>> start(const Contract &contract, Options options,
                                                  std::unique_ptr<Store> connection);
  ~Monitor();

  /// Falls silent: what others do or not is no matter any more.
  void stop();

  /// Something failed here. The reason that all ranks give: a verdict that there is or comes soon, else this. An `own`
  /// failure is not the trace of another's, so nothing better is waited for.
  Status settle(const Status &why, bool own);

  /// After a verdict, where this process serves the store: stops, and waits until the others know it, at most 3 s.
  void linger();

private:
  Monitor(const Contract &contract, Options options, std::unique_ptr<Store> store);

  void run();
  /// False when there is nothing more to watch.
  bool look();
  bool judge();
  StatusOr<std::string> view(size_t rank);
  bool storeFails(const Status &why, std::chrono::steady_clock::time_point called);
  bool pronounce(const std::string &text);
  void deliver(const Status &verdict);
  bool countSeen();
  double longestOwnWait() const;
  std::string servant() const;
  std::string storeLost(const Status &why) const;
  std::string key(const std::string &name) const;

  Contract contract_;
  Options options_;
  std::unique_ptr<Store> store_;
  double limit_; ///< seconds
  std::vector<RankView> views_;
  std::vector<std::chrono::steady_clock::time_point> changed_; ///< when each rank last gave a sign
  uint64_t beats_ = 0;
  std::chrono::steady_clock::time_point answered_; ///< the store did
  bool remarked_ = false;

  std::mutex lock_;
  std::condition_variable wake_;
  bool stopping_ = false, delivered_ = false;
  std::thread thread_;
};

} // namespace dlc::runtime
