#pragma once

#include "dlc/runtime/Executable.h"

#include <cstdint>

namespace dlc::test {

/// A program for several members as a compiler would write it, for the cpu and for sim.
///
/// Variables w: f32[count] = uniform in [-1, 1), mesh.data: this member's index. Entry
///   step(x: f32[count], split over data) -> (y: f32[members * count], index: i64)
///     w = sum of all members' x; y = all members' x; index = mesh.data
/// Entry broken() fails at model.cpp:30 in the middle, with a collective under way.
struct MeshProgram {
  int64_t members = 2, count = 1000;
  bool otherProgram = false; ///< the same values, another text
  bool oneChannel = false;   ///< for all its collectives
  bool reversed = false;     ///< its code starts them in another order than its manifest says

  enum Entry : size_t { kStep, kBroken };
  StatusOr<std::shared_ptr<const Executable>> make() const;
};

} // namespace dlc::test
