#include "comm/shm/ShmEngine.h"
#include "comm/host/HostCommunicator.h"
#include "comm/host/TreeReduce.h"
#include "comm/shm/Shm.h"

#include <cstring>
#include <ctime>
#include <numeric>
#include <thread>

#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dlc::runtime {

namespace {

// Below this everybody adds everything: one meeting instead of two.
constexpr int64_t kSmallBytes = 32 << 10;
// A thread that has waited so long lets others have the processor, and then sleeps.
constexpr std::chrono::microseconds kSpin{5}, kYield{50};
// Between two looks at whether a member is still there.
constexpr long kLookNanoseconds = 20'000'000;

char *at(void *data, int64_t bytes) { return static_cast<char *>(data) + bytes; }
const char *at(const void *data, int64_t bytes) { return static_cast<const char *>(data) + bytes; }

void copy(void *to, const void *from, int64_t bytes) {
  if (bytes > 0 && to != from)
    std::memcpy(to, from, size_t(bytes));
}

} // namespace

ShmEngine::ShmEngine(const Group &group, Meeting met)
    : KindsEngine(group), met(std::move(met)), sent(names.size()), received(names.size()), sentPieces(names.size()),
      receivedPieces(names.size()) {}

ShmEngine::~ShmEngine() {
  auto alive = Segment::State::Alive;
  mine().state.compare_exchange_strong(alive, Segment::State::Left);
  ringAll();
}

Status ShmEngine::run(const Operation &operation) {
  begin(operation);
  Status status = dispatch(operation);
  if (!status.ok())
    interrupt(status);
  return status;
}

void ShmEngine::begin(const Operation &operation) {
  if (operation.isPointToPoint())
    return;
  ++collectives;
  agreed = false;
  current = &operation;
  mine().signatures[collectives % 2] = signatureOf(operation);
}

Status ShmEngine::agree(const Operation &operation) {
  begin(operation);
  if (operation.kind == Operation::Kind::AllToAll)
    tellCounts(operation);
  Status status = operation.isPointToPoint() ? agreeWithPeer(operation) : meet();
  if (!status.ok())
    interrupt(status);
  else if (!operation.isPointToPoint())
    mine().stage = ++stage; // a meeting that nobody waits for
  return status;
}

// The signature stays until the other end has compared it: its piece is that it has.
Status ShmEngine::agreeWithPeer(const Operation &operation) {
  if (Status status = meetPeer(operation); !status.ok())
    return status;
  int peer = operation.peer;
  bool sends = operation.kind == Operation::Kind::Send;
  Segment::Box &ours = met.segments[size_t(rank)].box(peer), &theirs = met.segments[size_t(peer)].box(rank);
  Segment::Box::Side &own = sends ? ours.sends : ours.receives, &other = sends ? theirs.receives : theirs.sends;
  uint64_t number = ++(sends ? sentPieces : receivedPieces)[size_t(peer)];
  own.pieces = number;
  ring(peer);
  return await(peer, peer + 1, [&](int) { return other.pieces >= number; });
}

std::vector<int> ShmEngine::behind() const {
  std::vector<int> members;
  for (int m = 0; m < size(); ++m)
    if (m != rank && control(m).stage < mine().stage)
      members.push_back(m);
  return members;
}

Status ShmEngine::look() {
  Status lost;
  (void)notThere(rank, rank + 1, [](int) { return false; }, lost);
  return lost;
}

Status ShmEngine::meet() {
  uint64_t number = ++stage;
  mine().stage = number;
  ringAll();
  if (Status status = await(0, size(), [&](int m) { return control(m).stage >= number; }); !status.ok())
    return status;
  if (agreed)
    return {};
  agreed = true;
  return checkAgreement();
}

Status ShmEngine::checkAgreement() const {
  const Signature &first = control(0).signatures[collectives % 2];
  for (int m = 1; m < size(); ++m)
    if (const Signature &other = control(m).signatures[collectives % 2]; other != first)
      return differ(first, nameOf(0), other, nameOf(m));
  return current->kind == Operation::Kind::AllToAll ? checkCounts(*current) : Status();
}

Status ShmEngine::checkCounts(const Operation &operation) const {
  for (int m = 0; m < size(); ++m) {
    int64_t gives = met.segments[size_t(m)].box(rank).counts[collectives % 2];
    if (int64_t takes = operation.outCounts[size_t(m)]; gives != takes)
      return differCounts(operation, gives, nameOf(m), takes, nameOf(rank));
  }
  return {};
}

Status ShmEngine::allReduce(const Operation &operation) {
  int64_t element = byteSize(operation.type);
  if (operation.count * element <= kSmallBytes)
    return allReduceAtOnce(operation);
  // Three pieces are under way: between two meetings each member puts in what others need of one, adds its part of the
  // one before, and takes the others' parts of the one before that.
  int64_t most = Segment::kPieceBytes / element, number = (operation.count + most - 1) / most;
  uint64_t first = pieces + 1;
  pieces += uint64_t(number);
  auto pieceOf = [&](int64_t i) {
    return Piece{first + uint64_t(i), at(operation.out, i * most * element), std::min(most, operation.count - i * most),
                 element};
  };
  for (int64_t i = 0; i < number + 2; ++i) {
    if (i < number)
      putIn(pieceOf(i));
    if (i >= 1 && i <= number)
      addPart(operation, pieceOf(i - 1));
    if (i >= 2)
      takeParts(pieceOf(i - 2));
    if (i <= number)
      if (Status status = meet(); !status.ok())
        return status;
  }
  return {};
}

void ShmEngine::putIn(const Piece &piece) {
  Part own = partOf(piece.count, rank, size());
  int64_t from = own.begin * piece.element, to = own.end * piece.element;
  copy(place(rank, piece.number), piece.data, from);
  copy(place(rank, piece.number) + to, piece.data + to, piece.count * piece.element - to);
}

void ShmEngine::addPart(const Operation &operation, const Piece &piece) {
  Part own = partOf(piece.count, rank, size());
  int64_t from = own.begin * piece.element;
  std::vector<const void *> inputs(names.size());
  for (int m = 0; m < size(); ++m)
    inputs[size_t(m)] = (m == rank ? piece.data : place(m, piece.number)) + from;
  treeReduce(operation.type, operation.reduce, inputs, piece.data + from, own.count());
  copy(place(rank, piece.number) + from, piece.data + from, own.count() * piece.element);
}

void ShmEngine::takeParts(const Piece &piece) {
  for (int m = 0; m < size(); ++m)
    if (Part part = partOf(piece.count, m, size()); m != rank)
      copy(piece.data + part.begin * piece.element, place(m, piece.number) + part.begin * piece.element,
           part.count() * piece.element);
}

Status ShmEngine::allReduceAtOnce(const Operation &operation) {
  ++pieces;
  copy(place(rank, pieces), operation.in, operation.count * byteSize(operation.type));
  if (Status status = meet(); !status.ok())
    return status;
  std::vector<const void *> inputs(names.size());
  for (int m = 0; m < size(); ++m)
    inputs[size_t(m)] = m == rank ? operation.in : place(m, pieces);
  treeReduce(operation.type, operation.reduce, inputs, operation.out, operation.count);
  return {};
}

Status ShmEngine::reduceScatter(const Operation &operation) {
  int64_t element = byteSize(operation.type), most = Segment::kPieceBytes / element / size();
  if (most == 0)
    return {StatusCode::InvalidInput, "group '" + groupName + "' has too many members to share memory"};
  for (int64_t begin = 0; begin == 0 || begin < operation.count; begin += most) {
    int64_t count = std::min(most, operation.count - begin), bytes = count * element;
    ++pieces;
    auto given = [&](int m) { return at(operation.in, (m * operation.count + begin) * element); };
    for (int m = 0; m < size(); ++m)
      if (m != rank)
        copy(place(rank, pieces) + m * bytes, given(m), bytes);
    if (Status status = meet(); !status.ok())
      return status;
    std::vector<const void *> inputs(names.size());
    for (int m = 0; m < size(); ++m)
      inputs[size_t(m)] = m == rank ? given(rank) : place(m, pieces) + rank * bytes;
    treeReduce(operation.type, operation.reduce, inputs, at(operation.out, begin * element), count);
  }
  return {};
}

Status ShmEngine::allGather(const Operation &operation) {
  int64_t total = operation.count * byteSize(operation.type);
  for (int64_t begin = 0; begin == 0 || begin < total; begin += Segment::kPieceBytes) {
    int64_t bytes = std::min(Segment::kPieceBytes, total - begin);
    ++pieces;
    copy(place(rank, pieces), at(operation.in, begin), bytes);
    if (Status status = meet(); !status.ok())
      return status;
    for (int m = 0; m < size(); ++m)
      copy(at(operation.out, m * total + begin), m == rank ? at(operation.in, begin) : place(m, pieces), bytes);
  }
  return {};
}

Status ShmEngine::broadcast(const Operation &operation) {
  int64_t total = operation.count * byteSize(operation.type);
  for (int64_t begin = 0; begin == 0 || begin < total; begin += Segment::kPieceBytes) {
    int64_t bytes = std::min(Segment::kPieceBytes, total - begin);
    ++pieces;
    if (rank == operation.peer)
      copy(place(rank, pieces), at(operation.in, begin), bytes);
    if (Status status = meet(); !status.ok())
      return status;
    if (rank != operation.peer)
      copy(at(operation.out, begin), place(operation.peer, pieces), bytes);
  }
  return {};
}

Status ShmEngine::allToAll(const Operation &operation) {
  int64_t element = byteSize(operation.type), most = Segment::kPieceBytes / element / size(), longest = 0;
  if (most == 0)
    return {StatusCode::InvalidInput, "group '" + groupName + "' has too many members to share memory"};
  tellCounts(operation);
  if (Status status = meet(); !status.ok())
    return status;
  for (int from = 0; from < size(); ++from)
    for (int to = 0; to < size(); ++to)
      longest = std::max(longest, met.segments[size_t(from)].box(to).counts[collectives % 2]);
  for (int64_t begin = 0; begin < longest; begin += most) {
    ++pieces;
    auto bytes = [&](int64_t count) { return std::clamp<int64_t>(count - begin, 0, most) * element; };
    int64_t given = begin, taken = begin;
    for (int m = 0; m < size(); given += operation.inCounts[size_t(m++)])
      copy(place(rank, pieces) + m * most * element, at(operation.in, given * element),
           bytes(operation.inCounts[size_t(m)]));
    if (Status status = meet(); !status.ok())
      return status;
    for (int m = 0; m < size(); taken += operation.outCounts[size_t(m++)])
      copy(at(operation.out, taken * element), place(m, pieces) + rank * most * element,
           bytes(operation.outCounts[size_t(m)]));
  }
  return {};
}

void ShmEngine::tellCounts(const Operation &operation) {
  for (int m = 0; m < size(); ++m)
    met.segments[size_t(rank)].box(m).counts[collectives % 2] = operation.inCounts[size_t(m)];
}

Status ShmEngine::meetPeer(const Operation &operation) {
  int peer = operation.peer;
  bool sends = operation.kind == Operation::Kind::Send;
  Segment::Box &ours = met.segments[size_t(rank)].box(peer), &theirs = met.segments[size_t(peer)].box(rank);
  Segment::Box::Side &own = sends ? ours.sends : ours.receives;
  const Segment::Box::Side &other = sends ? theirs.receives : theirs.sends;
  uint64_t number = ++(sends ? sent : received)[size_t(peer)];
  own.signature = signatureOf(operation);
  own.posted = number;
  ring(peer);
  if (Status status = await(peer, peer + 1, [&](int) { return other.posted >= number; }); !status.ok())
    return status;
  return sends ? checkTransfer(own.signature, nameOf(rank), other.signature, nameOf(peer))
               : checkTransfer(other.signature, nameOf(peer), own.signature, nameOf(rank));
}

Status ShmEngine::send(const Operation &operation) {
  if (Status status = meetPeer(operation); !status.ok())
    return status;
  int to = operation.peer;
  const Segment &segment = met.segments[size_t(rank)];
  Segment::Box::Side &own = segment.box(to).sends, &other = met.segments[size_t(to)].box(rank).receives;
  uint64_t &done = sentPieces[size_t(to)];
  int64_t total = operation.count * byteSize(operation.type);
  for (int64_t begin = 0; begin == 0 || begin < total; begin += Segment::kTransferBytes) {
    ++done;
    if (Status status = await(to, to + 1, [&](int) { return other.pieces + 2 >= done; }); !status.ok())
      return status;
    copy(segment.transferPiece(done), at(operation.in, begin), std::min(Segment::kTransferBytes, total - begin));
    own.pieces = done;
    ring(to);
  }
  return await(to, to + 1, [&](int) { return other.pieces >= done; });
}

Status ShmEngine::receive(const Operation &operation) {
  if (Status status = meetPeer(operation); !status.ok())
    return status;
  int from = operation.peer;
  const Segment &segment = met.segments[size_t(from)];
  Segment::Box::Side &own = met.segments[size_t(rank)].box(from).receives, &other = segment.box(rank).sends;
  uint64_t &done = receivedPieces[size_t(from)];
  int64_t total = operation.count * byteSize(operation.type);
  for (int64_t begin = 0; begin == 0 || begin < total; begin += Segment::kTransferBytes) {
    ++done;
    if (Status status = await(from, from + 1, [&](int) { return other.pieces >= done; }); !status.ok())
      return status;
    copy(at(operation.out, begin), segment.transferPiece(done), std::min(Segment::kTransferBytes, total - begin));
    own.pieces = done;
    ring(from);
  }
  return {};
}

Status ShmEngine::barrier(const Operation &operation) { return meet(); }

Status ShmEngine::await(int first, int last, const Reached &reached) {
  auto all = [&] {
    for (int m = first; m < last; ++m)
      if (!reached(m))
        return false;
    return true;
  };
  auto start = std::chrono::steady_clock::now();
  // What all have reached is done, whatever came after.
  for (auto waited = start - start; waited < kYield; waited = std::chrono::steady_clock::now() - start) {
    if (all())
      return {};
    if (waited > kSpin)
      std::this_thread::yield();
  }
  Status status;
  while (true) {
    // Whoever changes something after we look sees that we sleep, or has rung before.
    mine().sleeping = 1;
    uint32_t doorbell = mine().doorbell;
    std::vector<int> absent = notThere(first, last, reached, status);
    bool over = absent.empty() || !status.ok();
    {
      std::lock_guard guard(lock);
      missing = over ? std::vector<int>() : std::move(absent);
    }
    if (over)
      break;
    sleep(doorbell);
  }
  mine().sleeping = 0;
  return status;
}

std::vector<int> ShmEngine::notThere(int first, int last, const Reached &reached, Status &lost) {
  using State = Segment::State;
  std::vector<int> absent;
  std::vector<pollfd> connections(names.size(), {-1, POLLIN, 0});
  std::vector<State> states(names.size());
  // Read before `reached`: what a member reached it reached before it went.
  for (int m = 0; m < size(); ++m)
    if (m != rank)
      connections[size_t(m)].fd = met.lifelines[size_t(m)].get();
  (void)poll(connections.data(), connections.size(), 0);
  for (int m = 0; m < size(); ++m)
    states[size_t(m)] = control(m).state;
  for (int m = first; m < last; ++m)
    if (!reached(m))
      absent.push_back(m);
  if (absent.empty())
    return absent;
  if (lost = reason(); !lost.ok())
    return absent;
  for (int m = 0; m < size(); ++m)
    if (m != rank && states[size_t(m)] == State::Failed) {
      std::string text(control(m).text, strnlen(control(m).text, Segment::kLongestText));
      lost = end({StatusCode::PeerFailed, "group '" + groupName + "': " + text}, text);
      return absent;
    }
  for (int m = 0; m < size(); ++m) {
    bool left = states[size_t(m)] == State::Left;
    if (m == rank || (connections[size_t(m)].revents == 0 && !left))
      continue;
    // Who left in peace is missed by those alone that wait for it.
    if (left && std::find(absent.begin(), absent.end(), m) == absent.end())
      continue;
    std::string text = left ? nameOf(m) + " has left" : "lost " + nameOf(m);
    lost = end({StatusCode::PeerFailed, "group '" + groupName + "': " + text}, text);
    return absent;
  }
  return absent;
}

void ShmEngine::sleep(uint32_t doorbell) const {
  timespec most{0, kLookNanoseconds};
  (void)syscall(SYS_futex, &mine().doorbell, FUTEX_WAIT, doorbell, &most, nullptr, 0);
}

void ShmEngine::ring(int member) const {
  Segment::Control &other = control(member);
  if (!other.sleeping)
    return;
  ++other.doorbell;
  (void)syscall(SYS_futex, &other.doorbell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void ShmEngine::ringAll() const {
  for (int m = 0; m < size(); ++m)
    if (m != rank)
      ring(m);
}

void ShmEngine::interrupt(const Status &reason) noexcept { (void)end(reason, nameOf(rank) + ": " + reason.message()); }

Status ShmEngine::end(const Status &reason, const std::string &told) noexcept {
  std::lock_guard guard(lock);
  if (!why.ok())
    return why;
  why = reason;
  std::strncpy(mine().text, told.c_str(), Segment::kLongestText - 1);
  mine().state = Segment::State::Failed;
  ringAll();
  ring(rank);
  return why;
}

Status ShmEngine::reason() const {
  std::lock_guard guard(lock);
  return why;
}

std::vector<int> ShmEngine::awaited() const {
  std::lock_guard guard(lock);
  return missing;
}

namespace {

class Factory final : public CommunicatorFactory {
  StatusOr<std::unique_ptr<Communicator>> make(Store &store, const Group &group, int channel, uint64_t generation,
                                               Deadline deadline, const CommunicatorOptions &options) override {
    StatusOr<Meeting> met = meetOnHost(store, storeKey(group, channel, generation) + "/shm", group, deadline);
    if (!met.ok())
      return met.status();
    return makeHostCommunicator(group, std::make_unique<ShmEngine>(group, met.take()), options);
  }
};

} // namespace

CommunicatorFactory &shmFactory() {
  static Factory factory;
  return factory;
}

} // namespace dlc::runtime
