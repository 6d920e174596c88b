#include "comm/nccl/NcclEngine.h"
#include "comm/host/HostCommunicator.h"
#include "comm/host/TreeReduce.h"
#include "comm/nccl/Nccl.h"

#include <cstring>
#include <thread>

namespace dlc::runtime {

namespace {

constexpr std::chrono::microseconds kShortest{1}, kLongest{200};

int64_t bytesOf(const Operation &operation) { return operation.count * byteSize(operation.type); }

char *at(void *data, int64_t bytes) { return static_cast<char *>(data) + bytes; }
const char *at(const void *data, int64_t bytes) { return static_cast<const char *>(data) + bytes; }

/// First failure of calls in order.
template <typename... Calls>
Status inOrder(Calls... calls) {
  Status status;
  (void)((status = calls()).ok() && ...);
  return status;
}

} // namespace

NcclEngine::NcclEngine(const Group &group, std::unique_ptr<ShmEngine> met, std::unique_ptr<NcclDevice> opened,
                       const nccl::Api &api, bool fixedOrder)
    : KindsEngine(group), api(api), fixedOrder(fixedOrder), control(std::move(met)), device(std::move(opened)),
      comm(api, group.name, *control) {}

// What a communicator that hangs may still use stays.
NcclEngine::~NcclEngine() {
  comm.close(true);
  if (comm.hangs())
    (void)device.release(); // NOLINT(bugprone-unused-return-value)
}

Status NcclEngine::connect(const std::string &name, const nccl::UniqueId &id, Deadline deadline) {
  Status status = device->use();
  if (status.ok())
    status = comm.connect(id, size(), rank, deadline);
  if (status.ok()) {
    auto made = NcclResident::make(name, api, comm, *control, size());
    status = made.status();
    if (made.ok())
      resident = made.take();
  }
  if (!status.ok()) {
    control->interrupt(status);
    comm.close(false);
  }
  return status;
}

Status NcclEngine::run(const Operation &operation) {
  Status status = control->agree(operation);
  if (status.ok())
    status = device->use();
  if (status.ok()) {
    peer = operation.isPointToPoint() ? operation.peer : -1;
    moves = true;
    status = dispatch(operation);
    moves = false;
  }
  if (!status.ok()) {
    control->interrupt(status);
    comm.close(false);
  }
  return status;
}

std::vector<int> NcclEngine::awaited() const {
  if (!moves)
    return control->awaited();
  int other = peer;
  return other >= 0 ? std::vector{other} : control->behind();
}

Status NcclEngine::finish(int result, std::string_view function) {
  Status status =
      inOrder([&] { return comm.settle(result, function, Deadline::max()); }, [&] { return device->mark(); });
  for (auto pause = kShortest; status.ok(); pause = std::min(2 * pause, kLongest)) {
    StatusOr<bool> reached = device->reached();
    if (!reached.ok() || *reached)
      return reached.status();
    // Asked first: what NCCL then tells may be the end of another member, which is the reason to report.
    int error = comm.asyncError();
    status = control->look();
    if (status.ok() && error != nccl::kInProgress)
      status = error == nccl::kSuccess ? Status() : comm.failed(error, function);
    if (status.ok())
      std::this_thread::sleep_for(pause);
  }
  return status;
}

// What stays on the device has nobody who would end it: its streams would wait for ever.
void NcclEngine::interrupt(const Status &why) noexcept {
  control->interrupt(why);
  if (resident && resident->isUsed())
    comm.close(false);
}

bool NcclEngine::isOurs(const Operation &operation) const {
  bool isNarrow = byteSize(operation.type) < 4;
  return isFloat(operation.type) && (fixedOrder || isNarrow || operation.reduce != Reduce::Sum);
}

Status NcclEngine::stage(const void *from, int64_t inBytes, int64_t outBytes) {
  StatusOr<char *> first = device->room(NcclDevice::In, inBytes), second = device->room(NcclDevice::Out, outBytes);
  if (!first.ok() || !second.ok())
    return first.ok() ? second.status() : first.status();
  in = *first;
  out = *second;
  return from ? device->upload(in, from, inBytes) : Status();
}

Status NcclEngine::exchange(const std::vector<Move> &moves) {
  return finish(comm.with([&](nccl::Comm handle) { return give(handle, moves); }), "ncclSend and ncclRecv");
}

int NcclEngine::give(nccl::Comm handle, const std::vector<Move> &moves) const {
  int result = api.ncclGroupStart();
  for (const Move &each : moves) {
    if (each.bytes == 0 || each.member == rank || result != nccl::kSuccess)
      continue;
    result = each.sends
                 ? api.ncclSend(each.data, size_t(each.bytes), nccl::kInt8, each.member, handle, device->stream())
                 : api.ncclRecv(each.data, size_t(each.bytes), nccl::kInt8, each.member, handle, device->stream());
    if (result == nccl::kInProgress)
      result = nccl::kSuccess;
  }
  int ended = api.ncclGroupEnd();
  return result == nccl::kSuccess ? ended : result;
}

Status NcclEngine::allReduce(const Operation &operation) {
  if (operation.count == 0)
    return {};
  if (isOurs(operation))
    return treeAllReduce(operation);
  int64_t bytes = bytesOf(operation);
  return inOrder([&] { return stage(operation.in, bytes, 0); },
                 [&] {
                   return finish(comm.with([&](nccl::Comm handle) {
                     return api.ncclAllReduce(in, in, size_t(operation.count), nccl::typeOf(operation.type),
                                              nccl::reduceOf(operation.reduce), handle, device->stream());
                   }),
                                 "ncclAllReduce");
                 },
                 [&] { return device->download(operation.out, in, bytes); });
}

Status NcclEngine::treeAllReduce(const Operation &operation) {
  int64_t element = byteSize(operation.type), bytes = bytesOf(operation);
  Part own = partOf(operation.count, rank, size());
  int64_t ownBytes = own.count() * element;
  std::vector<char> others(size_t(ownBytes * size()));
  char *mine = at(operation.out, own.begin * element);
  auto place = [&](int m) { return in + partOf(operation.count, m, size()).begin * element; };
  if (Status status = stage(operation.in, bytes, ownBytes * size()); !status.ok())
    return status;
  std::vector<Move> there, back;
  std::vector<const void *> inputs(names.size());
  for (int m = 0; m < size(); ++m) {
    int64_t theirs = partOf(operation.count, m, size()).count() * element;
    inputs[size_t(m)] = m == rank ? mine : others.data() + m * ownBytes;
    there.push_back({m, true, place(m), theirs});
    there.push_back({m, false, out + m * ownBytes, ownBytes});
    back.push_back({m, true, place(rank), ownBytes});
    back.push_back({m, false, place(m), theirs});
  }
  return inOrder([&] { return exchange(there); },
                 [&] { return device->download(others.data(), out, ownBytes * size()); },
                 [&] {
                   treeReduce(operation.type, operation.reduce, inputs, mine, own.count());
                   return device->upload(place(rank), mine, ownBytes);
                 },
                 [&] { return exchange(back); }, [&] { return device->download(operation.out, in, bytes); });
}

Status NcclEngine::reduceScatter(const Operation &operation) {
  if (operation.count == 0)
    return {};
  if (isOurs(operation))
    return treeReduceScatter(operation);
  int64_t bytes = bytesOf(operation);
  return inOrder([&] { return stage(operation.in, bytes * size(), bytes); },
                 [&] {
                   return finish(comm.with([&](nccl::Comm handle) {
                     return api.ncclReduceScatter(in, out, size_t(operation.count), nccl::typeOf(operation.type),
                                                  nccl::reduceOf(operation.reduce), handle, device->stream());
                   }),
                                 "ncclReduceScatter");
                 },
                 [&] { return device->download(operation.out, out, bytes); });
}

Status NcclEngine::treeReduceScatter(const Operation &operation) {
  int64_t bytes = bytesOf(operation);
  std::vector<char> others(size_t(bytes * size()));
  if (Status status = stage(operation.in, bytes * size(), bytes * size()); !status.ok())
    return status;
  std::vector<Move> moves;
  std::vector<const void *> inputs(names.size());
  for (int m = 0; m < size(); ++m) {
    inputs[size_t(m)] = m == rank ? at(operation.in, rank * bytes) : others.data() + m * bytes;
    moves.push_back({m, true, in + m * bytes, bytes});
    moves.push_back({m, false, out + m * bytes, bytes});
  }
  return inOrder([&] { return exchange(moves); }, [&] { return device->download(others.data(), out, bytes * size()); },
                 [&] {
                   treeReduce(operation.type, operation.reduce, inputs, operation.out, operation.count);
                   return Status();
                 });
}

Status NcclEngine::allGather(const Operation &operation) {
  int64_t bytes = bytesOf(operation);
  if (bytes == 0)
    return {};
  return inOrder([&] { return stage(operation.in, bytes, bytes * size()); },
                 [&] {
                   return finish(comm.with([&](nccl::Comm handle) {
                     return api.ncclAllGather(in, out, size_t(bytes), nccl::kInt8, handle, device->stream());
                   }),
                                 "ncclAllGather");
                 },
                 [&] { return device->download(operation.out, out, bytes * size()); });
}

Status NcclEngine::broadcast(const Operation &operation) {
  int64_t bytes = bytesOf(operation);
  if (bytes == 0)
    return {};
  bool gives = rank == operation.peer;
  return inOrder([&] { return stage(gives ? operation.in : nullptr, bytes, 0); },
                 [&] {
                   return finish(comm.with([&](nccl::Comm handle) {
                     return api.ncclBroadcast(in, in, size_t(bytes), nccl::kInt8, operation.peer, handle,
                                              device->stream());
                   }),
                                 "ncclBroadcast");
                 },
                 [&] { return gives ? Status() : device->download(operation.out, in, bytes); });
}

Status NcclEngine::allToAll(const Operation &operation) {
  int64_t element = byteSize(operation.type), given = 0, taken = 0;
  for (int m = 0; m < size(); ++m) {
    given += operation.inCounts[size_t(m)] * element;
    taken += operation.outCounts[size_t(m)] * element;
  }
  if (Status status = stage(operation.in, given, taken); !status.ok())
    return status;
  std::vector<Move> moves;
  int64_t from = 0, to = 0, ownFrom = 0, ownTo = 0, own = operation.inCounts[size_t(rank)] * element;
  for (int m = 0; m < size(); ++m) {
    int64_t sends = operation.inCounts[size_t(m)] * element, takes = operation.outCounts[size_t(m)] * element;
    if (m == rank) {
      ownFrom = from;
      ownTo = to;
    }
    moves.push_back({m, true, in + from, sends});
    moves.push_back({m, false, out + to, takes});
    from += sends;
    to += takes;
  }
  return inOrder([&] { return exchange(moves); }, [&] { return device->download(operation.out, out, taken); },
                 [&] {
                   if (own > 0)
                     std::memcpy(at(operation.out, ownTo), at(operation.in, ownFrom), size_t(own));
                   return Status();
                 });
}

Status NcclEngine::send(const Operation &operation) {
  int64_t bytes = bytesOf(operation);
  return inOrder([&] { return stage(operation.in, bytes, 0); },
                 [&] { return exchange({{operation.peer, true, in, bytes}}); });
}

Status NcclEngine::receive(const Operation &operation) {
  int64_t bytes = bytesOf(operation);
  return inOrder([&] { return stage(nullptr, 0, bytes); },
                 [&] { return exchange({{operation.peer, false, out, bytes}}); },
                 [&] { return device->download(operation.out, out, bytes); });
}

namespace {

/// What a member brings: "+" and, from member 0, NCCL's id; or "-" and why it cannot take part.
struct Offer {
  StatusOr<std::unique_ptr<NcclDevice>> device = Status();
  StatusOr<const nccl::Api *> api = Status();
  std::string text;
};

Offer offerOf(const Group &group) {
  Offer offer;
  offer.api = nccl::Api::load();
  offer.device = offer.api.ok() ? NcclDevice::open(group.device) : offer.api.status();
  Status status = offer.device.status();
  nccl::UniqueId id{};
  if (status.ok() && group.rank == 0)
    status = (*offer.api)->status((*offer.api)->ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr);
  offer.text = status.ok() ? "+" + std::string(id.internal, sizeof id.internal) : "-" + status.message();
  return offer;
}

class Factory final : public CommunicatorFactory {
  StatusOr<std::unique_ptr<Communicator>> make(Store &store, const Group &group, int channel, uint64_t generation,
                                               Deadline deadline, const CommunicatorOptions &options) override {
    std::string key = storeKey(group, channel, generation);
    StatusOr<Meeting> met = meetOnHost(store, key + "/nccl/host", group, deadline);
    if (!met.ok())
      return met.status();
    auto control = std::make_unique<ShmEngine>(group, met.take());
    Offer offer = offerOf(group);
    StatusOr<std::vector<std::string>> all = exchange(store, key + "/nccl/", group, offer.text, deadline);
    if (!all.ok())
      return all.status();
    for (size_t m = 0; m < all->size(); ++m)
      if (const std::string &text = (*all)[m]; !text.starts_with('+') || text.size() != 1 + sizeof(nccl::UniqueId))
        return Status(StatusCode::InvalidInput, "group '" + group.name + "': no NCCL on " + group.members[m] + ": " +
                                                    text.substr(std::min<size_t>(1, text.size())));
    nccl::UniqueId id;
    std::memcpy(&id, all->front().data() + 1, sizeof id);
    auto engine =
        std::make_unique<NcclEngine>(group, std::move(control), offer.device.take(), **offer.api, options.fixedOrder);
    if (Status status = engine->connect(group.device, id, deadline); !status.ok())
      return status;
    return makeHostCommunicator(group, std::move(engine), options);
  }
};

} // namespace

CommunicatorFactory &ncclFactory() {
  static Factory factory;
  return factory;
}

} // namespace dlc::runtime
