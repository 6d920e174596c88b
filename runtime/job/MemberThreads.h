#pragma once

#include "dlc/runtime/Status.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dlc::runtime {

/// One thread for each member of this process; the first one's is the caller.
class MemberThreads {
public:
  explicit MemberThreads(int members);
  ~MemberThreads();

  /// Does the work for all members at once and returns when all are done: with the failure that the others follow from,
  /// or success. `failed` is called on the thread of a member that fails, before the others are waited for, and says
  /// what to make of it.
  Status run(const std::function<Status(int)> &work,
             const std::function<Status(int member, const Status &why)> &failed);

  /// After a failure, while members work: says so on stderr when they do not come back soon, and ends the process when
  /// they have not within `limit`: nothing else ends a thread, and whoever called would wait for ever.
  void expectReturn(const std::string &why, std::chrono::milliseconds limit);

private:
  void serve(int member);
  void perform(int member);

  std::mutex callers; ///< one at a time
  std::mutex lock;
  std::condition_variable started, finished;
  const std::function<Status(int)> *work_ = nullptr;
  const std::function<Status(int, const Status &)> *failed_ = nullptr;
  Status first; ///< of the failures
  uint64_t round = 0;
  int unfinished = 0;
  bool stopping = false;
  std::vector<std::thread> threads;
  std::thread watch;
};

} // namespace dlc::runtime
