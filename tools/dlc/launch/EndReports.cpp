#include "launch/EndReports.h"

#include "dlc/runtime/TcpStore.h"

#include <chrono>
#include <csignal>
#include <memory>

namespace dlc::launch {

EndReports::~EndReports() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void EndReports::add(const RankEnd &end) {
  if (end.rank < 0 || !failureOf(end))
    return;
  {
    std::lock_guard lock(mutex_);
    waiting_.emplace_back(end.rank, stateText(end));
  }
  changed_.notify_all();
  if (thread_.joinable())
    return;
  sigset_t all, before;
  sigfillset(&all); // signals are for the main thread
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void EndReports::work() {
  runtime::TcpStoreOptions options;
  options.address = point_.host;
  options.port = point_.port;
  options.secret = point_.secret;
  options.generation = point_.generation;
  options.timeout = std::chrono::milliseconds(2000);
  StatusOr<std::unique_ptr<runtime::Store>> store = runtime::connectStore(options);
  std::string prefix = "generation/" + std::to_string(point_.generation) + "/launcher/";
  std::unique_lock lock(mutex_);
  while (store.ok() && !stopping_) {
    std::vector<std::pair<int, std::string>> ends = std::exchange(waiting_, {});
    lock.unlock();
    for (const auto &[rank, text] : ends)
      (void)(*store)->set(prefix + std::to_string(rank), text); // a lost store is noticed elsewhere
    lock.lock();
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
  }
}

} // namespace dlc::launch
