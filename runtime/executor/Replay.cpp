// A step with a branch, from the second call on (k0 … k5 are launches, `fetch` brings the predicate to the host):
//
//   the entry's code      what the stream gets, call 1      call 2 (the same branch)      call 3 (the other)
//   k0, k1                k0, k1                            capture {k0, k1}, launch it   launch {k0, k1}
//   fetch                 fetch                             fetch                         fetch
//   k2, k3 or k4          k2, k3                            capture {k2, k3, k5}, launch  k4, k5, noted beside {k2, k3,
//   k5} k5                    k5
#include "executor/Replay.h"

#include "job/Collectives.h"

#include <array>
#include <bit>
#include <utility>

namespace dlc {

Status Replay::run(Call call, const std::function<Status()> &enter) {
  entry = call.entry;
  if (!graphs)
    places.clear();
  begin(0);
  if (place)
    for (auto known = place->begin(); known != place->end(); ++known)
      if (known->call == call)
        return play(known);
  Status status = enter();
  return status.ok() ? finish(boundaries == 0 ? &call : nullptr) : status;
}

void Replay::begin(size_t boundary) {
  boundaries = boundary;
  position = 0;
  noted = {};
  place = nullptr;
  mode = Mode::Direct;
  if (!graphs || boundary >= kMostPlaces)
    return;
  if (places.size() <= entry)
    places.resize(entry + 1);
  if (places[entry].size() <= boundary)
    places[entry].resize(boundary + 1);
  place = &places[entry][boundary];
  same = place->begin();
  mode = place->empty() ? Mode::Noted : Mode::Held;
}

Status Replay::launch(uint32_t kernel, void *const *operands) {
  size_t count = kernel < manifest.kernels.size() ? manifest.kernels[kernel].operands.size() : 0;
  return give({kernel, {operands, count}});
}

Status Replay::copy(void *to, const void *from, int64_t bytes) {
  std::array<void *, 3> operands = {to, const_cast<void *>(from), std::bit_cast<void *>(bytes)};
  return give({Piece::kCopy, operands});
}

Status Replay::start(uint32_t collective, const void *from, void *to) {
  if (collectives->inGraphs(collective)) {
    std::array<void *, 3> operands = {std::bit_cast<void *>(uint64_t(collective)), const_cast<void *>(from), to};
    return give({Piece::kStart, operands});
  }
  Status status = boundary();
  return status.ok() ? collectives->start(collective, from, to) : status;
}

Status Replay::wait(uint32_t collective) {
  if (collectives->inGraphs(collective)) {
    std::array<void *, 1> operands = {std::bit_cast<void *>(uint64_t(collective))};
    return give({Piece::kWait, operands});
  }
  Status status = boundary();
  return status.ok() ? collectives->wait(collective) : status;
}

Status Replay::give(const Piece &piece) {
  if (mode == Mode::Held) {
    if (same->work.has(piece, position) || isSame([&](const Segment &other) { return other.has(piece, position); })) {
      position = Segment::next(piece, position);
      return {};
    }
    if (Status status = giveHeld(); !status.ok())
      return status;
  }
  if (mode == Mode::Noted)
    noted.add(piece);
  return giveNow(piece);
}

Status Replay::giveNow(const Piece &piece) {
  auto operands = piece.operands;
  auto numberAt = [&](size_t i) { return std::bit_cast<uint64_t>(operands[i]); };
  switch (piece.kernel) {
  case Piece::kCopy:
    return stream.copy(operands[0], operands[1], int64_t(numberAt(2)));
  case Piece::kStart:
    return collectives->start(uint32_t(numberAt(0)), operands[1], operands[2]);
  case Piece::kWait:
    return collectives->wait(uint32_t(numberAt(0)));
  default:
    return kernels.launch(stream, piece.kernel, operands.data(), manifest.entries[entry].name);
  }
}

// It turned out to be new.
Status Replay::giveHeld() {
  noted = same->work.before(position);
  mode = Mode::Noted;
  return noted.each([this](const Piece &piece) { return giveNow(piece); });
}

/// Looks for other work that begins as this one did.
bool Replay::isSame(const std::function<bool(const Segment &)> &fits) {
  for (auto other = place->begin(); other != place->end(); ++other)
    if (other->work.begins(same->work, position) && fits(other->work)) {
      same = other;
      return true;
    }
  return false;
}

Status Replay::boundary() {
  if (Status status = finish(nullptr); !status.ok())
    return status;
  begin(boundaries + 1);
  return {};
}

Status Replay::finish(Call *whole) {
  if (mode == Mode::Held) {
    if (position == 0)
      return {};
    auto ends = [this](const Segment &work) { return work.end() == position; };
    if (ends(same->work) || isSame(ends)) {
      if (whole)
        same->call = std::move(*whole);
      return play(same);
    }
    if (Status status = giveHeld(); !status.ok())
      return status;
  }
  if (mode == Mode::Direct || noted.pieces() == 0)
    return {};
  bool closed = noted.isClosed();
  place->push_front({std::move(noted), closed, whole ? std::optional(std::move(*whole)) : std::nullopt, nullptr});
  if (place->size() > kMostAtPlace)
    place->pop_back();
  return {};
}

Status Replay::play(Place::iterator known) {
  place->splice(place->begin(), *place, known);
  // One launch is no more than one graph, and a boundary may lie between a collective's start and its wait.
  if (known->work.pieces() < 2 || !known->closed)
    return giveAll(*known);
  if (!known->graph)
    if (Status status = capture(*known); !status.ok())
      return status;
  if (!known->graph)
    return giveAll(*known);
  Status status = stream.launch(*known->graph);
  return !status.ok() || !collectives ? status : known->work.each([this](const Piece &piece) {
    if (piece.kernel == Piece::kStart)
      collectives->replayed(uint32_t(std::bit_cast<uint64_t>(piece.operands[0])));
    return Status();
  });
}

Status Replay::capture(Known &known) {
  if (collectives)
    collectives->note(true);
  StatusOr<std::unique_ptr<runtime::Graph>> captured = stream.capture([&] { return giveAll(known); });
  if (collectives)
    collectives->note(false);
  if (!captured.ok())
    return captured.status();
  known.graph = captured.take();
  graphs = bool(known.graph);
  return {};
}

Status Replay::giveAll(const Known &known) {
  return known.work.each([this](const Piece &piece) { return giveNow(piece); });
}

} // namespace dlc
