#include "comm/gloo/GlooEngine.h"
#include "comm/gloo/BlockedSignals.h"
#include "comm/host/TreeReduce.h"

#include <cstring>
#include <exception>

#include <gloo/transport/unbound_buffer.h>

namespace dlc::runtime {

namespace {

using Kind = Operation::Kind;

// Below this everybody sends everything to everybody, one round instead of two.
constexpr int64_t kSmallBytes = 64 << 10;

constexpr std::chrono::milliseconds kReasonTime{200};

char *at(void *data, int64_t bytes) { return static_cast<char *>(data) + bytes; }
char *at(const void *data, int64_t bytes) { return at(const_cast<void *>(data), bytes); }

} // namespace

struct GlooEngine::Transfer {
  Move move;
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer; ///< one pending operation is all that it may have
  bool done = false;
};

struct GlooEngine::Header {
  Signature signature;
  int64_t forYou = 0;   ///< AllToAll: elements for the receiver
  uint32_t present = 0; ///< the last to arrive
  uint32_t unused = 0;
};

GlooEngine::GlooEngine(const Group &group, std::unique_ptr<GlooContext> connected)
    : groupName(group.name), names(group.members), rank(group.rank), context(std::move(connected)), sent(names.size()),
      received(names.size()), ring(*context, group, [this](const std::string &text) {
        end({StatusCode::PeerFailed, "group '" + groupName + "': " + text}, text);
      }) {}

// Members may still be in the last operation, which this one has done: the ring must not take that for a failure.
GlooEngine::~GlooEngine() {
  BlockedSignals blocked;
  ring.tell({});
}

Status GlooEngine::run(const Operation &operation) {
  Status status = operation.kind == Kind::Send      ? send(operation)
                  : operation.kind == Kind::Receive ? receive(operation)
                                                    : collective(operation);
  if (!status.ok())
    interrupt(status);
  return status;
}

void GlooEngine::interrupt(const Status &reason) noexcept { end(reason, nameOf(rank) + ": " + reason.message()); }

void GlooEngine::end(const Status &reason, const std::string &told) noexcept {
  {
    std::lock_guard guard(lock);
    if (why.ok())
      why = reason;
    ended.notify_all();
    if (active)
      for (Transfer &each : *active) {
        each.buffer->abortWaitSend();
        each.buffer->abortWaitRecv();
      }
  }
  if (disagreed)
    return;
  BlockedSignals blocked;
  ring.tell(told);
  context->close();
}

Status GlooEngine::disagree(Status status) {
  disagreed = !status.ok();
  return status;
}

// Those whose data has not come; when all has, those who have not taken ours.
std::vector<int> GlooEngine::awaited() const {
  std::lock_guard guard(lock);
  std::vector<int> givers, takers;
  for (size_t i = 0; active && i < active->size(); ++i) {
    const Transfer &each = (*active)[i];
    bool arrived = each.done;
    // Waits go from one transfer to the next, so a header may be there before its turn.
    if (each.move.bytes == sizeof(Header) && !each.move.sends)
      arrived = std::atomic_ref(static_cast<Header *>(each.move.data)->present).load(std::memory_order_relaxed) != 0;
    if (!arrived)
      (each.move.sends ? takers : givers).push_back(each.move.member);
  }
  return givers.empty() ? takers : givers;
}

Status GlooEngine::lost(int member, const char *what) const {
  return {StatusCode::PeerFailed, "group '" + groupName + "': lost " + nameOf(member) + ": " + what};
}

Status GlooEngine::exchange(int phase, std::vector<Move> moves) {
  for (Move &each : moves)
    each.slot = collectives << 8U | unsigned(phase);
  return exchange(moves);
}

Status GlooEngine::exchange(const std::vector<Move> &moves) {
  std::vector<Transfer> transfers;
  transfers.reserve(moves.size());
  Status status;
  for (const Move &each : moves) {
    if (each.bytes == 0 || each.member == rank)
      continue;
    try {
      transfers.push_back({each, context->buffer(each.data, size_t(each.bytes)), false});
      if (each.sends)
        transfers.back().buffer->send(each.member, each.slot);
      else
        transfers.back().buffer->recv(each.member, each.slot);
    } catch (const std::exception &error) {
      status = lost(each.member, error.what());
      break;
    }
  }
  {
    std::lock_guard guard(lock);
    if (!why.ok())
      status = why;
    active = &transfers;
  }
  for (size_t i = 0; status.ok() && i < transfers.size(); ++i)
    status = complete(transfers[i]);
  {
    std::unique_lock guard(lock);
    active = nullptr;
    // A connection ends a moment before the ring tells the reason.
    if (!status.ok() && ended.wait_for(guard, kReasonTime, [&] { return !why.ok(); }))
      status = why;
  }
  // Before the buffers go: nothing may move in memory that is the caller's again.
  if (!status.ok())
    interrupt(status);
  return status;
}

Status GlooEngine::complete(Transfer &transfer) {
  try {
    bool ended = transfer.move.sends ? transfer.buffer->waitSend(GlooContext::kNever)
                                     : transfer.buffer->waitRecv(GlooContext::kNever);
    std::lock_guard guard(lock);
    transfer.done = ended;
    return ended ? Status() : why;
  } catch (const std::exception &error) {
    return lost(transfer.move.member, error.what());
  }
}

Status GlooEngine::collective(const Operation &operation) {
  ++collectives;
  if (Status status = agree(operation); !status.ok())
    return status;
  switch (operation.kind) {
  case Kind::AllReduce:
    return allReduce(operation);
  case Kind::ReduceScatter:
    return reduceScatter(operation);
  case Kind::AllGather:
    return allGather(operation);
  case Kind::Broadcast:
    return broadcast(operation);
  case Kind::AllToAll:
    return allToAll(operation);
  default:
    return {};
  }
}

// Before data moves: Gloo ends the program when a message is larger than the memory for it.
Status GlooEngine::agree(const Operation &operation) {
  std::vector<Header> own(names.size()), others(names.size());
  std::vector<Move> moves;
  moves.reserve(2 * names.size());
  for (int m = 0; m < size(); ++m) {
    own[size_t(m)] = {signatureOf(operation), operation.kind == Kind::AllToAll ? operation.inCounts[size_t(m)] : 0, 1,
                      0};
    moves.push_back({m, false, &others[size_t(m)], sizeof(Header)});
    moves.push_back({m, true, &own[size_t(m)], sizeof(Header)});
  }
  if (Status status = exchange(0, moves); !status.ok())
    return status;
  others[size_t(rank)] = own[size_t(rank)];
  for (int m = 0; m < size(); ++m) {
    const Header &other = others[size_t(m)];
    if (other.signature != own[0].signature) {
      int first = std::min(m, rank), second = std::max(m, rank);
      return disagree(differ(m < rank ? other.signature : own[0].signature, nameOf(first),
                             m < rank ? own[0].signature : other.signature, nameOf(second)));
    }
    if (operation.kind == Kind::AllToAll && other.forYou != operation.outCounts[size_t(m)])
      return differCounts(operation, other.forYou, nameOf(m), operation.outCounts[size_t(m)], nameOf(rank));
  }
  return {};
}

Status GlooEngine::allReduce(const Operation &operation) {
  int64_t element = byteSize(operation.type), bytes = operation.count * element;
  if (size() == 1)
    return {};
  std::vector<const void *> inputs(names.size());
  std::vector<Move> moves;
  if (bytes <= kSmallBytes) {
    char *others = scratchFor(bytes * size());
    for (int m = 0; m < size(); ++m) {
      inputs[size_t(m)] = m == rank ? operation.in : at(others, m * bytes);
      moves.push_back({m, false, at(others, m * bytes), bytes});
      moves.push_back({m, true, operation.out, bytes});
    }
    Status status = exchange(1, moves);
    if (status.ok())
      treeReduce(operation.type, operation.reduce, inputs, operation.out, operation.count);
    return status;
  }
  Part own = partOf(operation.count, rank, size());
  int64_t ownBytes = own.count() * element;
  char *others = scratchFor(ownBytes * size()), *mine = at(operation.out, own.begin * element);
  std::vector<Move> back;
  for (int m = 0; m < size(); ++m) {
    Part part = partOf(operation.count, m, size());
    char *theirs = at(operation.out, part.begin * element);
    inputs[size_t(m)] = m == rank ? mine : at(others, m * ownBytes);
    moves.push_back({m, false, at(others, m * ownBytes), ownBytes});
    moves.push_back({m, true, theirs, part.count() * element});
    back.push_back({m, false, theirs, part.count() * element});
    back.push_back({m, true, mine, ownBytes});
  }
  if (Status status = exchange(1, moves); !status.ok())
    return status;
  treeReduce(operation.type, operation.reduce, inputs, mine, own.count());
  return exchange(2, back);
}

Status GlooEngine::reduceScatter(const Operation &operation) {
  int64_t bytes = operation.count * byteSize(operation.type);
  char *others = scratchFor(bytes * size());
  std::vector<const void *> inputs(names.size());
  std::vector<Move> moves;
  moves.reserve(2 * names.size());
  for (int m = 0; m < size(); ++m) {
    inputs[size_t(m)] = m == rank ? at(operation.in, rank * bytes) : at(others, m * bytes);
    moves.push_back({m, false, at(others, m * bytes), bytes});
    moves.push_back({m, true, at(operation.in, m * bytes), bytes});
  }
  Status status = exchange(1, moves);
  if (status.ok())
    treeReduce(operation.type, operation.reduce, inputs, operation.out, operation.count);
  return status;
}

Status GlooEngine::allGather(const Operation &operation) {
  int64_t bytes = operation.count * byteSize(operation.type);
  std::vector<Move> moves;
  moves.reserve(2 * names.size());
  for (int m = 0; m < size(); ++m) {
    moves.push_back({m, false, at(operation.out, m * bytes), bytes});
    moves.push_back({m, true, at(operation.in, 0), bytes});
  }
  if (bytes && operation.in != at(operation.out, rank * bytes))
    std::memcpy(at(operation.out, rank * bytes), operation.in, size_t(bytes));
  return exchange(1, moves);
}

Status GlooEngine::broadcast(const Operation &operation) {
  int64_t bytes = operation.count * byteSize(operation.type);
  if (rank != operation.peer)
    return exchange(1, {{operation.peer, false, operation.out, bytes}});
  std::vector<Move> moves;
  moves.reserve(2 * names.size());
  for (int m = 0; m < size(); ++m)
    moves.push_back({m, true, operation.out, bytes});
  return exchange(1, moves);
}

Status GlooEngine::allToAll(const Operation &operation) {
  int64_t element = byteSize(operation.type), from = 0, to = 0;
  std::vector<Move> moves;
  moves.reserve(2 * names.size());
  for (int m = 0; m < size(); ++m) {
    int64_t sends = operation.inCounts[size_t(m)] * element, takes = operation.outCounts[size_t(m)] * element;
    if (m == rank && sends)
      std::memcpy(at(operation.out, to), at(operation.in, from), size_t(sends));
    moves.push_back({m, false, at(operation.out, to), takes});
    moves.push_back({m, true, at(operation.in, from), sends});
    from += sends;
    to += takes;
  }
  return exchange(1, moves);
}

namespace {

// Operations between two members count by themselves: other members do not see them. Phases: the sender's header, the
// receiver's, the data; so a send never meets a send.
uint64_t transferSlot(uint64_t number, unsigned phase) { return uint64_t(1) << 63U | number << 8U | phase; }

} // namespace

Status GlooEngine::send(const Operation &operation) {
  int to = operation.peer;
  uint64_t number = ++sent[size_t(to)];
  Header own{signatureOf(operation), 0, 1, 0}, other;
  Status status = exchange({{to, false, &other, sizeof other, transferSlot(number, 1)},
                            {to, true, &own, sizeof own, transferSlot(number, 0)}});
  if (status.ok())
    status = disagree(checkTransfer(own.signature, nameOf(rank), other.signature, nameOf(to)));
  if (!status.ok())
    return status;
  int64_t bytes = operation.count * byteSize(operation.type);
  return exchange({{to, true, at(operation.in, 0), bytes, transferSlot(number, 2)}});
}

Status GlooEngine::receive(const Operation &operation) {
  int from = operation.peer;
  uint64_t number = ++received[size_t(from)];
  Header own{signatureOf(operation), 0, 1, 0}, other;
  Status status = exchange({{from, false, &other, sizeof other, transferSlot(number, 0)},
                            {from, true, &own, sizeof own, transferSlot(number, 1)}});
  if (status.ok())
    status = disagree(checkTransfer(other.signature, nameOf(from), own.signature, nameOf(rank)));
  if (!status.ok())
    return status;
  int64_t bytes = operation.count * byteSize(operation.type);
  return exchange({{from, false, operation.out, bytes, transferSlot(number, 2)}});
}

char *GlooEngine::scratchFor(int64_t bytes) {
  if (bytes > scratchBytes) {
    scratch = std::make_unique_for_overwrite<char[]>(size_t(bytes));
    scratchBytes = bytes;
  }
  return scratch.get();
}

namespace {

class Factory final : public CommunicatorFactory {
  StatusOr<std::unique_ptr<Communicator>> make(Store &store, const Group &group, int channel, uint64_t generation,
                                               Deadline deadline, const CommunicatorOptions &options) override {
    StatusOr<std::unique_ptr<GlooContext>> context =
        GlooContext::connect(store, storeKey(group, channel, generation) + "/gloo/", group, deadline);
    if (!context.ok())
      return context.status();
    return makeHostCommunicator(group, std::make_unique<GlooEngine>(group, context.take()), options);
  }
};

} // namespace

} // namespace dlc::runtime

/// What the runtime calls when it opens this plug-in.
extern "C" dlc::runtime::CommunicatorFactory *dlc_comm_factory() {
  static dlc::runtime::Factory factory;
  return &factory;
}
