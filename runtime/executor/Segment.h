#pragma once

#include "dlc/runtime/Stream.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace dlc {

/// A launch, a copy inside the device, or a collective that stays there, as an entry gives it.
struct Piece {
  static constexpr uint32_t kCopy = ~uint32_t(0), kStart = kCopy - 1, kWait = kCopy - 2;

  uint32_t kernel = kCopy; ///< by index of the manifest's "kernels"
  /// Of a copy: target, source, bytes; of a collective: its index, and at the start where from and where to.
  std::span<void *const> operands;
};

/// Work of an entry between two points where the host must have its hands free: pieces in the order they were given.
class Segment {
public:
  void add(const Piece &piece);
  /// Whether `piece` stands at a position; positions count from 0, and `next` of one is the one behind its piece.
  bool has(const Piece &piece, size_t position) const;
  static size_t next(const Piece &piece, size_t position) { return position + 1 + piece.operands.size(); }
  /// Where it ends.
  size_t end() const { return words.size(); }
  size_t pieces() const { return count; }
  /// Whether every collective that starts in it is waited for in it, and no other one: what a graph can hold.
  bool isClosed() const;
  /// The pieces before a position.
  Segment before(size_t position) const;
  /// Whether both are the same before a position.
  bool begins(const Segment &other, size_t position) const;

  /// Calls `give` with each piece, up to the first failure.
  template <typename Give>
  Status each(Give give) const {
    for (size_t position = 0; position < words.size();) {
      Piece piece = at(position);
      if (Status status = give(piece); !status.ok())
        return status;
      position = next(piece, position);
    }
    return {};
  }

private:
  Piece at(size_t position) const;

  // Of each piece a head (its kernel and the number of its operands) and its operands, all in one row: to find out
  // whether a call is the same takes a comparison of few bytes.
  std::vector<void *> words;
  size_t count = 0;
};

} // namespace dlc
