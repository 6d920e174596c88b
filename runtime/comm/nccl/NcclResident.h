#pragma once

#include "comm/DeviceCollectives.h"
#include "comm/nccl/NcclComm.h"

#include "dlc/runtime/Device.h"

#include <memory>

namespace dlc::runtime {

/// NCCL on memory of the member's device, as one of its streams comes to it.
class NcclResident final : public DeviceCollectives {
public:
  /// `device` as in "cuda:1"; the others stay.
  static StatusOr<std::unique_ptr<NcclResident>> make(const std::string &device, const nccl::Api &api, NcclComm &comm,
                                                      ShmEngine &control, int size);
  ~NcclResident() override;

  Stream &stream() override { return *stream_; }
  Status agree(const Op &op, const Call &call) override;
  Status enqueue(const Op &op, const Call &call) override;
  Status look() override { return comm.look(); }
  /// Whether something was ever put into the stream.
  bool isUsed() const { return used; }

private:
  NcclResident(const nccl::Api &api, NcclComm &comm, ShmEngine &control, int size)
      : api(api), comm(comm), control(control), size(size) {}
  int give(nccl::Comm handle, const Call &call) const;
  int exchange(nccl::Comm handle, const Call &call) const;

  const nccl::Api &api;
  NcclComm &comm;
  ShmEngine &control;
  const int size;
  std::unique_ptr<Stream> stream_;
  nccl::Stream queue = nullptr; ///< of that
  std::atomic<bool> used = false;
};

} // namespace dlc::runtime
