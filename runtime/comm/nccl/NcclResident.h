#pragma once

#include "comm/DeviceCollectives.h"
#include "comm/host/History.h"
#include "comm/nccl/NcclComm.h"

#include "dlc/runtime/Device.h"

#include <array>
#include <deque>
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
  void note(const Op &op, const Call &call, bool later) override;
  void passed(uint64_t step) override;
  std::vector<OperationRecord> history() override;
  Status look() override { return comm.look(); }
  /// Whether something was ever put into the stream.
  bool isUsed() const { return used; }

private:
  /// An operation of the history that is not done as far as is known.
  struct Open {
    uint64_t number, step;
    Event *end; ///< null: not known
  };
  NcclResident(const nccl::Api &api, Device &device, NcclComm &comm, ShmEngine &control, int size)
      : api(api), device(device), comm(comm), control(control), size(size) {}
  int give(nccl::Comm handle, const Call &call) const;
  int exchange(nccl::Comm handle, const Call &call) const;

  const nccl::Api &api;
  Device &device;
  NcclComm &comm;
  ShmEngine &control;
  const int size;
  std::unique_ptr<Stream> stream_;
  nccl::Stream queue = nullptr; ///< of that
  std::atomic<bool> used = false;
  std::mutex lock; ///< of what follows
  History history_;
  std::deque<Open> open;
  std::array<std::unique_ptr<Event>, History::kKept> ends; ///< by number
};

} // namespace dlc::runtime
