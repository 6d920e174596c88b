#include "job/MemberThreads.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace dlc::runtime {

MemberThreads::MemberThreads(int members) {
  for (int member = 1; member < members; ++member)
    threads.emplace_back([this, member] { serve(member); });
}

MemberThreads::~MemberThreads() {
  {
    std::lock_guard guard(lock);
    stopping = true;
    started.notify_all();
    finished.notify_all();
  }
  for (std::thread &thread : threads)
    thread.join();
  if (watch.joinable())
    watch.join();
}

Status MemberThreads::run(const std::function<Status(int)> &work,
                          const std::function<Status(int, const Status &)> &failed) {
  std::lock_guard caller(callers);
  {
    std::lock_guard guard(lock);
    work_ = &work;
    failed_ = &failed;
    first = {};
    unfinished = int(threads.size()) + 1;
    ++round;
    started.notify_all();
  }
  perform(0);
  std::unique_lock guard(lock);
  finished.wait(guard, [&] { return unfinished == 0; });
  return first;
}

void MemberThreads::serve(int member) {
  uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock guard(lock);
      started.wait(guard, [&] { return stopping || round != seen; });
      if (stopping)
        return;
      seen = round;
    }
    perform(member);
  }
}

void MemberThreads::perform(int member) {
  Status status = (*work_)(member);
  if (!status.ok())
    status = (*failed_)(member, status);
  std::lock_guard guard(lock);
  // A member's own failure goes before what others have of it.
  if (first.ok() || (first.code() == StatusCode::PeerFailed && !status.ok() && status.code() != StatusCode::PeerFailed))
    first = status;
  if (--unfinished == 0)
    finished.notify_all();
}

void MemberThreads::expectReturn(const std::string &why, std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kSoon(1000);
  constexpr int kPeerFailed = 4; // as dlc run ends
  std::lock_guard guard(lock);
  if (unfinished == 0 || watch.joinable())
    return;
  watch = std::thread([this, why, limit, soon = std::min(kSoon, limit), mine = round] {
    std::unique_lock guard(lock);
    auto over = [&] { return stopping || unfinished == 0 || round != mine; };
    if (finished.wait_for(guard, soon, over))
      return;
    std::fprintf(stderr,
                 "dlc: %s\n  members of this process do not come back from it; it ends if they have not in %g s\n",
                 why.c_str(), double(limit.count()) / 1000);
    if (finished.wait_for(guard, limit, over))
      return;
    std::fprintf(stderr, "dlc: the process ends: members did not come back within %g s (DLC_TIMEOUT) of the failure\n",
                 double(limit.count()) / 1000);
    ::_exit(kPeerFailed);
  });
}

} // namespace dlc::runtime
