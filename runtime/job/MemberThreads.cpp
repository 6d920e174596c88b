#include "job/MemberThreads.h"

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
  }
  for (std::thread &thread : threads)
    thread.join();
}

Status MemberThreads::run(const std::function<Status(int)> &work, const std::function<void(const Status &)> &failed) {
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
  if (!status.ok()) {
    {
      std::lock_guard guard(lock);
      if (first.ok())
        first = status;
    }
    (*failed_)(status);
  }
  std::lock_guard guard(lock);
  if (--unfinished == 0)
    finished.notify_all();
}

} // namespace dlc::runtime
