#include "comm/nccl/NcclComm.h"

#include <csignal>
#include <future>
#include <thread>
#include <utility>

namespace dlc::runtime {

namespace {

constexpr std::chrono::milliseconds kClosing{500};
constexpr std::chrono::microseconds kShortest{1}, kLongest{200};

} // namespace

Status NcclComm::connect(const nccl::UniqueId &id, int size, int rank, Deadline deadline) {
  nccl::Config config;
  config.blocking = 0;
  int result = nccl::kSuccess;
  {
    std::lock_guard guard(lock);
    result = api.ncclCommInitRankConfig(&comm, size, id, rank, &config);
    if (!comm)
      return api.status(result, "ncclCommInitRankConfig", comm).withContext("group '" + group + "'");
  }
  return settle(result, "ncclCommInitRankConfig", deadline);
}

int NcclComm::asyncError() {
  return with([&](nccl::Comm comm) {
    int error = nccl::kSuccess;
    int asked = api.ncclCommGetAsyncError(comm, &error);
    return asked != nccl::kSuccess ? asked : error;
  });
}

// NCCL knows more while the communicator is there.
Status NcclComm::failed(int result, std::string_view function) {
  std::lock_guard guard(lock);
  Status status = comm ? api.status(result, function, comm)
                       : Status(StatusCode::PeerFailed, std::string(function) + ": the communicator is closed");
  return status.ok() ? status : status.withContext("group '" + group + "'");
}

// The first error that NCCL tells may be the news of another member's end, whose reason is the one to report.
Status NcclComm::settle(int result, std::string_view function, Deadline deadline) {
  for (auto pause = kShortest; result == nccl::kInProgress; pause = std::min(2 * pause, kLongest)) {
    if (Status lost = control.look(); !lost.ok())
      return lost;
    if (std::chrono::steady_clock::now() > deadline)
      return {StatusCode::PeerFailed, "group '" + group + "': " + std::string(function) +
                                          " is not done at its limit of time; see NCCL_DEBUG=INFO"};
    std::this_thread::sleep_for(pause);
    result = asyncError();
  }
  if (result == nccl::kSuccess)
    return {};
  Status lost = control.look();
  return lost.ok() ? failed(result, function) : lost;
}

Status NcclComm::look() {
  Status lost = control.look();
  if (!lost.ok())
    return lost;
  int error = asyncError();
  return error == nccl::kSuccess || error == nccl::kInProgress ? Status() : failed(error, "NCCL");
}

void NcclComm::close(bool inPeace) noexcept {
  std::lock_guard one(closing); // who comes second knows how it ended
  std::unique_lock guard(lock);
  nccl::Comm ours = std::exchange(comm, nullptr);
  guard.unlock();
  if (!ours)
    return;
  auto ended = std::make_shared<std::promise<bool>>();
  std::thread closer([&api = api, ours, inPeace, ended] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    int state = inPeace ? api.ncclCommFinalize(ours) : int(nccl::kInternalError);
    auto limit = std::chrono::steady_clock::now() + kClosing / 2;
    while (state == nccl::kInProgress && std::chrono::steady_clock::now() < limit) {
      std::this_thread::sleep_for(kLongest);
      if (int asked = api.ncclCommGetAsyncError(ours, &state); asked != nccl::kSuccess)
        state = asked;
    }
    bool over = state == nccl::kSuccess;
    int result = over ? api.ncclCommDestroy(ours) : api.ncclCommAbort(ours);
    ended->set_value(over || result == nccl::kSuccess);
  });
  std::future<bool> end = ended->get_future();
  if (end.wait_for(kClosing) == std::future_status::ready) {
    hanging = !end.get();
    return closer.join();
  }
  hanging = true;
  closer.detach();
}

} // namespace dlc::runtime
