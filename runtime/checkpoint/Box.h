#pragma once

#include "dlc/runtime/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlc::runtime {

/// Part of a tensor: first index and count in each dimension.
struct Box {
  std::vector<int64_t> start, extent;

  static Box whole(std::span<const int64_t> shape);
  int64_t volume() const;
  /// "[0:2, 4:8]".
  std::string str() const;
  friend bool operator==(const Box &, const Box &) = default;
};

/// Whether the box has the shape's rank and lies inside.
bool isInside(const Box &box, std::span<const int64_t> shape);

/// What two boxes of one rank share; the volume is 0 if nothing.
Box intersect(const Box &a, const Box &b);

/// Boxes of one tensor that a checkpoint may have: more than members of any job here, few enough to compare in pairs.
constexpr size_t kMostPieces = 4096;

/// Every element of the shape must lie in exactly one box: "has a hole: …", "has pieces that overlap: …".
Status checkCoverage(std::span<const int64_t> shape, std::vector<Box> boxes);

} // namespace dlc::runtime
