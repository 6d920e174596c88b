#pragma once

#include "comm/nccl/NcclApi.h"
#include "comm/shm/ShmEngine.h"

#include <mutex>

namespace dlc::runtime {

/// NCCL's communicator of one member. Any thread may call; after close every call fails.
class NcclComm {
public:
  /// `control` tells of the other members' ends and stays.
  NcclComm(const nccl::Api &api, std::string group, ShmEngine &control)
      : api(api), group(std::move(group)), control(control) {}
  ~NcclComm() { close(true); }
  NcclComm(const NcclComm &) = delete;
  NcclComm &operator=(const NcclComm &) = delete;

  /// Joins the other members. The thread's calls must be for the member's device.
  Status connect(const nccl::UniqueId &id, int size, int rank, Deadline deadline);

  /// The result of `call` with the handle; calls of NCCL return at once.
  template <typename Call>
  int with(Call call) {
    std::lock_guard guard(lock);
    return comm ? call(comm) : int(nccl::kInternalError);
  }
  /// A failure of NCCL that has no caller, or kInProgress.
  int asyncError();
  /// Waits while NCCL's calls go on in its own threads.
  Status settle(int result, std::string_view function, Deadline deadline);
  /// The Status of a result.
  Status failed(int result, std::string_view function);
  /// NCCL's failure or the news of another member's end, which comes first.
  Status look();

  /// Gives it back, by a thread of its own: NCCL's calls for that may hang. In peace only what is done.
  void close(bool inPeace) noexcept;
  /// Closing did not come to its end: NCCL's kernels may still use memory and streams.
  bool hangs() const { return hanging; }

private:
  const nccl::Api &api;
  const std::string group;
  ShmEngine &control;
  std::mutex lock, closing;
  nccl::Comm comm = nullptr;
  std::atomic<bool> hanging = false;
};

} // namespace dlc::runtime
