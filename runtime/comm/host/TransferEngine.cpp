#include "comm/host/TransferEngine.h"
#include "comm/host/TreeReduce.h"

#include <cstring>

namespace dlc::runtime {

namespace {

using Kind = Operation::Kind;

// Below this everybody sends everything to everybody, one round instead of two.
constexpr int64_t kSmallBytes = 64 << 10;

char *at(void *data, int64_t bytes) { return static_cast<char *>(data) + bytes; }
char *at(const void *data, int64_t bytes) { return at(const_cast<void *>(data), bytes); }

} // namespace

Status TransferEngine::run(const Operation &operation) {
  Status status;
  if (!operation.isPointToPoint()) {
    ++collectives;
    status = agree(operation);
  }
  if (status.ok())
    status = dispatch(operation);
  if (!status.ok())
    interrupt(status);
  return status;
}

// Waits go from one transfer to the next, so a header may be there before its turn.
bool TransferEngine::hasArrived(const Move &move) {
  return move.bytes == sizeof(Header) && !move.sends &&
         std::atomic_ref(static_cast<Header *>(move.data)->present).load(std::memory_order_relaxed) != 0;
}

Status TransferEngine::disagree(Status status) {
  disagreed = !status.ok();
  return status;
}

Status TransferEngine::move(std::vector<Move> moves) {
  std::erase_if(moves, [&](const Move &each) { return each.bytes == 0 || each.member == rank; });
  return exchange(moves);
}

Status TransferEngine::move(int phase, std::vector<Move> moves) {
  for (Move &each : moves)
    each.slot = collectives << 8U | unsigned(phase);
  return move(std::move(moves));
}

// Some libraries end the program when a message is larger than the memory for it.
Status TransferEngine::agree(const Operation &operation) {
  std::vector<Header> own(names.size()), others(names.size());
  std::vector<Move> moves;
  moves.reserve(2 * names.size());
  for (int m = 0; m < size(); ++m) {
    own[size_t(m)] = {signatureOf(operation), operation.kind == Kind::AllToAll ? operation.inCounts[size_t(m)] : 0, 1,
                      0};
    moves.push_back({m, false, &others[size_t(m)], sizeof(Header)});
    moves.push_back({m, true, &own[size_t(m)], sizeof(Header)});
  }
  if (Status status = move(0, moves); !status.ok())
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

Status TransferEngine::allReduce(const Operation &operation) {
  int64_t element = byteSize(operation.type), bytes = operation.count * element;
  if (size() == 1)
    return {};
  if (std::optional<Status> status = ownAllReduce(operation))
    return *status;
  std::vector<const void *> inputs(names.size());
  std::vector<Move> moves;
  if (bytes <= kSmallBytes) {
    char *others = scratchFor(bytes * size());
    for (int m = 0; m < size(); ++m) {
      inputs[size_t(m)] = m == rank ? operation.in : at(others, m * bytes);
      moves.push_back({m, false, at(others, m * bytes), bytes});
      moves.push_back({m, true, operation.out, bytes});
    }
    Status status = move(1, moves);
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
  if (Status status = move(1, moves); !status.ok())
    return status;
  treeReduce(operation.type, operation.reduce, inputs, mine, own.count());
  return move(2, back);
}

Status TransferEngine::reduceScatter(const Operation &operation) {
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
  Status status = move(1, moves);
  if (status.ok())
    treeReduce(operation.type, operation.reduce, inputs, operation.out, operation.count);
  return status;
}

Status TransferEngine::allGather(const Operation &operation) {
  int64_t bytes = operation.count * byteSize(operation.type);
  std::vector<Move> moves;
  moves.reserve(2 * names.size());
  for (int m = 0; m < size(); ++m) {
    moves.push_back({m, false, at(operation.out, m * bytes), bytes});
    moves.push_back({m, true, at(operation.in, 0), bytes});
  }
  if (bytes && operation.in != at(operation.out, rank * bytes))
    std::memcpy(at(operation.out, rank * bytes), operation.in, size_t(bytes));
  return move(1, moves);
}

Status TransferEngine::broadcast(const Operation &operation) {
  int64_t bytes = operation.count * byteSize(operation.type);
  if (rank != operation.peer)
    return move(1, {{operation.peer, false, operation.out, bytes}});
  std::vector<Move> moves;
  moves.reserve(2 * names.size());
  for (int m = 0; m < size(); ++m)
    moves.push_back({m, true, operation.out, bytes});
  return move(1, moves);
}

Status TransferEngine::allToAll(const Operation &operation) {
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
  return move(1, moves);
}

namespace {

// Operations between two members count by themselves: other members do not see them. Phases: the sender's header, the
// receiver's, the data; so a send never meets a send.
uint64_t transferSlot(uint64_t number, unsigned phase) { return uint64_t(1) << 63U | number << 8U | phase; }

} // namespace

Status TransferEngine::agreeTransfer(const Operation &operation, uint64_t number) {
  bool sends = operation.kind == Operation::Kind::Send;
  int peer = operation.peer;
  Header own{signatureOf(operation), 0, 1, 0}, other;
  if (Status status = move({{peer, false, &other, sizeof other, transferSlot(number, sends ? 1 : 0)},
                            {peer, true, &own, sizeof own, transferSlot(number, sends ? 0 : 1)}});
      !status.ok())
    return status;
  return disagree(sends ? checkTransfer(own.signature, nameOf(rank), other.signature, nameOf(peer))
                        : checkTransfer(other.signature, nameOf(peer), own.signature, nameOf(rank)));
}

Status TransferEngine::send(const Operation &operation) {
  uint64_t number = ++sent[size_t(operation.peer)];
  if (Status status = agreeTransfer(operation, number); !status.ok())
    return status;
  int64_t bytes = operation.count * byteSize(operation.type);
  return move({{operation.peer, true, at(operation.in, 0), bytes, transferSlot(number, 2)}});
}

Status TransferEngine::receive(const Operation &operation) {
  uint64_t number = ++received[size_t(operation.peer)];
  if (Status status = agreeTransfer(operation, number); !status.ok())
    return status;
  int64_t bytes = operation.count * byteSize(operation.type);
  return move({{operation.peer, false, operation.out, bytes, transferSlot(number, 2)}});
}

char *TransferEngine::scratchFor(int64_t bytes) {
  if (bytes > scratchBytes) {
    scratch = std::make_unique_for_overwrite<char[]>(size_t(bytes));
    scratchBytes = bytes;
  }
  return scratch.get();
}

} // namespace dlc::runtime
