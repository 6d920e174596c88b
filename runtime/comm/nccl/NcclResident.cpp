#include "comm/nccl/NcclResident.h"

#include "drivers/cuda/CudaStream.h"

namespace dlc::runtime {

StatusOr<std::unique_ptr<NcclResident>> NcclResident::make(const std::string &device, const nccl::Api &api,
                                                           NcclComm &comm, ShmEngine &control, int size) {
  StatusOr<DeviceId> id = DeviceId::parse(device);
  if (!id.ok())
    return id.status();
  StatusOr<Device *> opened = Device::open(*id);
  if (!opened.ok())
    return opened.status();
  StatusOr<std::unique_ptr<Stream>> stream = (*opened)->createStream();
  if (!stream.ok())
    return stream.status();
  std::unique_ptr<NcclResident> made(new NcclResident(api, comm, control, size));
  made->stream_ = stream.take();
  auto *queue = dynamic_cast<CudaStream *>(made->stream_.get());
  if (!queue)
    return Status(StatusCode::InvalidInput, "nccl expects members on CUDA devices, got " + device);
  made->queue = queue->get();
  return made;
}

// Waiting for a stream whose kernels never end would not end either.
NcclResident::~NcclResident() {
  comm.close(true);
  if (comm.hangs())
    (void)stream_.release(); // NOLINT(bugprone-unused-return-value)
}

static Operation::Kind kindOf(CollectiveKind kind) {
  constexpr Operation::Kind kKinds[] = {Operation::Kind::AllReduce, Operation::Kind::AllGather,
                                        Operation::Kind::ReduceScatter, Operation::Kind::AllToAll};
  return kKinds[size_t(kind)];
}

Status NcclResident::agree(const Op &op, const Call &call) {
  Operation operation;
  operation.kind = kindOf(call.kind);
  operation.reduce = call.reduce;
  operation.type = call.type;
  operation.op = op;
  operation.count = call.count;
  if (call.kind == CollectiveKind::AllToAll)
    operation.inCounts = operation.outCounts = std::vector<int64_t>(size_t(size), call.count);
  return control.agree(operation);
}

Status NcclResident::enqueue(const Op &, const Call &call) {
  if (Status lost = control.look(); !lost.ok())
    return lost;
  if (call.count == 0)
    return {};
  used = true;
  int result = comm.with([&](nccl::Comm handle) { return give(handle, call); });
  return comm.settle(result, "NCCL", Deadline::max());
}

int NcclResident::give(nccl::Comm handle, const Call &call) const {
  auto count = size_t(call.count), bytes = size_t(call.count * byteSize(call.type));
  switch (call.kind) {
  case CollectiveKind::AllReduce:
    return api.ncclAllReduce(call.from, call.to, count, nccl::typeOf(call.type), nccl::reduceOf(call.reduce), handle,
                             queue);
  case CollectiveKind::ReduceScatter:
    return api.ncclReduceScatter(call.from, call.to, count, nccl::typeOf(call.type), nccl::reduceOf(call.reduce),
                                 handle, queue);
  case CollectiveKind::AllGather:
    return api.ncclAllGather(call.from, call.to, bytes, nccl::kInt8, handle, queue);
  case CollectiveKind::AllToAll:
    return exchange(handle, call);
  }
  return nccl::kInvalidArgument;
}

int NcclResident::exchange(nccl::Comm handle, const Call &call) const {
  auto bytes = size_t(call.count * byteSize(call.type));
  const char *from = static_cast<const char *>(call.from);
  char *to = static_cast<char *>(call.to);
  int result = api.ncclGroupStart();
  auto keep = [&](int each) { result = result == nccl::kSuccess && each != nccl::kInProgress ? each : result; };
  for (int m = 0; m < size; ++m) {
    keep(api.ncclSend(from + size_t(m) * bytes, bytes, nccl::kInt8, m, handle, queue));
    keep(api.ncclRecv(to + size_t(m) * bytes, bytes, nccl::kInt8, m, handle, queue));
  }
  int ended = api.ncclGroupEnd();
  return result == nccl::kSuccess ? ended : result;
}

} // namespace dlc::runtime
