#pragma once

#include "comm/nccl/NcclComm.h"
#include "comm/nccl/NcclDevice.h"
#include "comm/nccl/NcclResident.h"
#include "comm/shm/ShmEngine.h"

namespace dlc::runtime {

/// NCCL moves elements between the members' devices. It says nothing of who is missing, gone or disagrees, so members
/// first meet in shared memory, which also carries the reason when a channel ends.
///
/// Elements of its own operations are the host's: they go to the device before NCCL's call and back after it, by copies
/// that are done when they return, so after a failure the caller's memory is free at once. NcclResident is for those
/// that stay on the device.
class NcclEngine final : public KindsEngine {
public:
  NcclEngine(const Group &group, std::unique_ptr<ShmEngine> met, std::unique_ptr<NcclDevice> opened,
             const nccl::Api &api, bool fixedOrder);
  ~NcclEngine() override;

  /// Joins the other members' communicator. `device` as in "cuda:1".
  Status connect(const std::string &device, const nccl::UniqueId &id, Deadline deadline);

  std::string_view name() const override { return "nccl"; }
  Status run(const Operation &operation) override;
  void interrupt(const Status &why) noexcept override;
  std::vector<int> awaited() const override;
  DeviceCollectives *onDevice() override { return resident.get(); }

private:
  /// From or to one other member's device.
  struct Move {
    int member;
    bool sends;
    char *data;
    int64_t bytes;
  };

  Status allReduce(const Operation &operation) override;
  Status reduceScatter(const Operation &operation) override;
  Status allGather(const Operation &operation) override;
  Status broadcast(const Operation &operation) override;
  Status allToAll(const Operation &operation) override;
  Status send(const Operation &operation) override;
  Status receive(const Operation &operation) override;
  Status barrier(const Operation &) override { return {}; }

  /// Reductions by the host: sums in the order of the tree; sums of 16-bit floats, which we round once; the largest and
  /// smallest floats, where NCCL may lose a NaN.
  Status treeAllReduce(const Operation &operation);
  Status treeReduceScatter(const Operation &operation);
  bool isOurs(const Operation &operation) const;
  /// All moves at once, those of no bytes or to this member left out.
  Status exchange(const std::vector<Move> &moves);
  int give(nccl::Comm handle, const std::vector<Move> &moves) const;
  /// Places for both, with `in` in its.
  Status stage(const void *in, int64_t inBytes, int64_t outBytes);
  /// Waits for what a call of NCCL has begun, or until the channel ends.
  Status finish(int result, std::string_view function);
  const nccl::Api &api;
  const bool fixedOrder;
  std::unique_ptr<ShmEngine> control;
  std::unique_ptr<NcclDevice> device;
  NcclComm comm;
  std::unique_ptr<NcclResident> resident;
  std::atomic<bool> moves = false;    ///< the running operation is NCCL's
  std::atomic<int> peer = -1;         ///< of a send or receive that runs
  char *in = nullptr, *out = nullptr; ///< of the running operation, on the device
};

} // namespace dlc::runtime
