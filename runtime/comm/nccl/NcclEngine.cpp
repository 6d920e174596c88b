#include "comm/nccl/NcclEngine.h"
#include "comm/host/HostCommunicator.h"
#include "comm/host/TreeReduce.h"
#include "comm/nccl/Nccl.h"

#include <csignal>
#include <cstring>
#include <future>
#include <thread>

namespace dlc::runtime {

namespace {

constexpr std::chrono::milliseconds kClosing{500};
constexpr std::chrono::microseconds kShortest{1}, kLongest{200};

int typeOf(DType type) {
  switch (type) {
  case DType::F64:
    return nccl::kFloat64;
  case DType::F32:
    return nccl::kFloat32;
  case DType::I64:
    return nccl::kInt64;
  case DType::I32:
    return nccl::kInt32;
  case DType::I8:
    return nccl::kInt8;
  case DType::I1:
    return nccl::kUint8;
  case DType::F16:
    return nccl::kFloat16;
  case DType::BF16:
    return nccl::kBfloat16;
  }
  return nccl::kInt8;
}

int reduceOf(Reduce reduce) {
  return reduce == Reduce::Sum ? nccl::kSum : reduce == Reduce::Max ? nccl::kMax : nccl::kMin;
}

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
    : KindsEngine(group), api(api), fixedOrder(fixedOrder), control(std::move(met)), device(std::move(opened)) {}

NcclEngine::~NcclEngine() { close(true); }

Status NcclEngine::connect(const nccl::UniqueId &id, Deadline deadline) {
  nccl::Config config;
  config.blocking = 0;
  Status status = device->use();
  if (status.ok())
    status = settle(api.ncclCommInitRankConfig(&comm, size(), id, rank, &config), "ncclCommInitRankConfig", deadline);
  if (!status.ok()) {
    control->interrupt(status);
    close(false);
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
    close(false);
  }
  return status;
}

std::vector<int> NcclEngine::awaited() const {
  if (!moves)
    return control->awaited();
  int other = peer;
  return other >= 0 ? std::vector{other} : control->behind();
}

Status NcclEngine::failed(int result, std::string_view function) const {
  Status status = api.status(result, function, comm);
  return status.ok() ? status : status.withContext("group '" + groupName + "'");
}

// The first error that NCCL tells may be the news of another member's end, whose reason is the one to report.
Status NcclEngine::settle(int result, std::string_view function, Deadline deadline) {
  for (auto pause = kShortest; result == nccl::kInProgress; pause = std::min(2 * pause, kLongest)) {
    if (Status lost = control->look(); !lost.ok())
      return lost;
    if (std::chrono::steady_clock::now() > deadline)
      return {StatusCode::PeerFailed, "group '" + groupName + "': " + std::string(function) +
                                          " is not done at its limit of time; see NCCL_DEBUG=INFO"};
    std::this_thread::sleep_for(pause);
    if (int asked = api.ncclCommGetAsyncError(comm, &result); asked != nccl::kSuccess)
      result = asked;
  }
  if (result == nccl::kSuccess)
    return {};
  Status lost = control->look();
  return lost.ok() ? failed(result, function) : lost;
}

Status NcclEngine::finish(int result, std::string_view function) {
  Status status = inOrder([&] { return settle(result, function, Deadline::max()); }, [&] { return device->mark(); });
  for (auto pause = kShortest; status.ok(); pause = std::min(2 * pause, kLongest)) {
    StatusOr<bool> reached = device->reached();
    if (!reached.ok() || *reached)
      return reached.status();
    int error = nccl::kSuccess;
    if (int asked = api.ncclCommGetAsyncError(comm, &error); asked != nccl::kSuccess)
      error = asked;
    status = control->look();
    if (status.ok() && error != nccl::kInProgress)
      status = failed(error, function);
    if (status.ok())
      std::this_thread::sleep_for(pause);
  }
  return status;
}

void NcclEngine::close(bool inPeace) noexcept {
  if (!comm)
    return;
  auto ended = std::make_shared<std::promise<void>>();
  std::thread closer([&api = api, comm = comm, inPeace, ended] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    int state = inPeace ? api.ncclCommFinalize(comm) : int(nccl::kInternalError);
    auto limit = std::chrono::steady_clock::now() + kClosing / 2;
    while (state == nccl::kInProgress && std::chrono::steady_clock::now() < limit) {
      std::this_thread::sleep_for(kLongest);
      if (int asked = api.ncclCommGetAsyncError(comm, &state); asked != nccl::kSuccess)
        state = asked;
    }
    (void)(state == nccl::kSuccess ? api.ncclCommDestroy(comm) : api.ncclCommAbort(comm));
    ended->set_value();
  });
  comm = nullptr;
  if (ended->get_future().wait_for(kClosing) == std::future_status::ready)
    return closer.join();
  // Its kernel may still use them.
  closer.detach();
  (void)device.release(); // NOLINT(bugprone-unused-return-value)
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
  int result = api.ncclGroupStart();
  for (const Move &each : moves) {
    if (each.bytes == 0 || each.member == rank || result != nccl::kSuccess)
      continue;
    result = each.sends ? api.ncclSend(each.data, size_t(each.bytes), nccl::kInt8, each.member, comm, device->stream())
                        : api.ncclRecv(each.data, size_t(each.bytes), nccl::kInt8, each.member, comm, device->stream());
    if (result == nccl::kInProgress)
      result = nccl::kSuccess;
  }
  int ended = api.ncclGroupEnd();
  return finish(result == nccl::kSuccess ? ended : result, "ncclSend and ncclRecv");
}

Status NcclEngine::allReduce(const Operation &operation) {
  if (operation.count == 0)
    return {};
  if (isOurs(operation))
    return treeAllReduce(operation);
  int64_t bytes = bytesOf(operation);
  return inOrder([&] { return stage(operation.in, bytes, 0); },
                 [&] {
                   return finish(api.ncclAllReduce(in, in, size_t(operation.count), typeOf(operation.type),
                                                   reduceOf(operation.reduce), comm, device->stream()),
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
                   return finish(api.ncclReduceScatter(in, out, size_t(operation.count), typeOf(operation.type),
                                                       reduceOf(operation.reduce), comm, device->stream()),
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
                   return finish(api.ncclAllGather(in, out, size_t(bytes), nccl::kInt8, comm, device->stream()),
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
                   return finish(
                       api.ncclBroadcast(in, in, size_t(bytes), nccl::kInt8, operation.peer, comm, device->stream()),
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
    if (Status status = engine->connect(id, deadline); !status.ok())
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
