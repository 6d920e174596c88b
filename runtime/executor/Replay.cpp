// A step with a branch, from the second call on (k0 … k5 are launches, `fetch` brings the predicate to the host):
//
//   the entry's code      what the stream gets, call 1      call 2 (the same branch)      call 3 (the other)
//   k0, k1                k0, k1                            capture {k0, k1}, launch it   launch {k0, k1}
//   fetch                 fetch                             fetch                         fetch
//   k2, k3 or k4          k2, k3                            capture {k2, k3, k5}, launch  k4, k5, noted beside {k2, k3,
//   k5} k5                    k5
#include "executor/Replay.h"

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
  if (piece.kernel != Piece::kCopy)
    return kernels.launch(stream, piece.kernel, piece.operands.data(), manifest.entries[entry].name);
  return stream.copy(piece.operands[0], piece.operands[1], std::bit_cast<int64_t>(piece.operands[2]));
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
  place->push_front({std::move(noted), whole ? std::optional(std::move(*whole)) : std::nullopt, nullptr});
  if (place->size() > kMostAtPlace)
    place->pop_back();
  return {};
}

Status Replay::play(Place::iterator known) {
  place->splice(place->begin(), *place, known);
  auto work = [&] { return known->work.each([this](const Piece &piece) { return giveNow(piece); }); };
  if (known->work.pieces() < 2) // one launch is no more than one graph
    return work();
  if (!known->graph) {
    StatusOr<std::unique_ptr<runtime::Graph>> captured = stream.capture(work);
    if (!captured.ok())
      return captured.status();
    known->graph = captured.take();
    graphs = bool(known->graph);
  }
  return known->graph ? stream.launch(*known->graph) : work();
}

} // namespace dlc
