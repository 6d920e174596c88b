#pragma once

#include <cstdint>

namespace dlc::dl {

/// Extents of a gather or scatter with its dims merged: x [batches, outer, extent, inner], indices [batches,
/// positions], gathered or updates [batches, outer, positions, inner].
struct GatherDims {
  int64_t batches;
  int64_t outer;
  int64_t extent; ///< indices in [0, extent) are inside
  int64_t inner;
  int64_t positions;
};

} // namespace dlc::dl
