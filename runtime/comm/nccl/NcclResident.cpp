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
  std::unique_ptr<NcclResident> made(new NcclResident(api, **opened, comm, control, size));
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

static Operation operationOf(const Op &op, const DeviceCollectives::Call &call) {
  Operation operation;
  operation.kind = kindOf(call.kind);
  operation.reduce = call.reduce;
  operation.type = call.type;
  operation.op = op;
  operation.count = call.count;
  return operation;
}

Status NcclResident::agree(const Op &op, const Call &call) {
  Operation operation = operationOf(op, call);
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

// Reports may lack something; what is computed does not depend on them.
void NcclResident::note(const Op &op, const Call &call, bool later) {
  std::lock_guard guard(lock);
  uint64_t number = history_.add(operationOf(op, call), std::chrono::steady_clock::now());
  history_.start(number);
  std::unique_ptr<Event> &end = ends[number % ends.size()];
  if (!later && !end)
    if (auto event = device.createEvent(); event.ok())
      end = event.take();
  bool marked = !later && end && stream_->record(*end).ok();
  open.push_back({number, op.id.step, marked ? end.get() : nullptr});
  if (open.size() > ends.size())
    open.pop_front();
}

void NcclResident::passed(uint64_t step) {
  std::lock_guard guard(lock);
  for (; !open.empty() && open.front().step <= step; open.pop_front())
    history_.end(open.front().number, true);
}

std::vector<OperationRecord> NcclResident::history() {
  std::lock_guard guard(lock);
  for (const Open &each : open)
    if (StatusOr<bool> ended = each.end ? each.end->query() : StatusOr<bool>(false); ended.ok() && *ended)
      history_.end(each.number, true);
  return history_.list();
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
  if (result != nccl::kSuccess)
    return result;
  auto keep = [&](int each) { result = result == nccl::kSuccess && each != nccl::kInProgress ? each : result; };
  for (int m = 0; m < size; ++m) {
    keep(api.ncclSend(from + size_t(m) * bytes, bytes, nccl::kInt8, m, handle, queue));
    keep(api.ncclRecv(to + size_t(m) * bytes, bytes, nccl::kInt8, m, handle, queue));
  }
  int ended = api.ncclGroupEnd();
  return result == nccl::kSuccess ? ended : result;
}

} // namespace dlc::runtime
