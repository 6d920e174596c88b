#pragma once

#include "kernels/CpuTraits.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdint>

namespace dlc::codegen {

/// Estimated cost of a multiply-add in a register tile, for what is worth sharing: about 20 a nanosecond and core.
inline constexpr double kNanosecondsPerMultiplyAdd = 0.05;

/// Iterations from which on a loop is worth splitting between threads without splitting another.
inline constexpr int64_t kShareable = 4;

/// Lanes of a vector along `extent` elements: no more than it takes, at least 2.
inline int64_t lanesFor(int64_t extent, int64_t elementBytes, const CpuTraits &traits) {
  auto fitting = int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(extent, 2))));
  return std::max<int64_t>(2, std::min(traits.vectorBytes / elementBytes, fitting));
}

/// Rows of a tile of `vectors` columns: accumulators, one row of column vectors and one broadcast fit 16 registers, or
/// the 32 that come with 64-byte vectors. More than 12 rows only lengthen the code.
inline int64_t mostTileRows(int64_t vectors, const CpuTraits &traits) {
  int64_t registers = traits.vectorBytes >= 64 ? 32 : 16;
  return std::min<int64_t>((registers - 2 - vectors) / vectors, 12);
}

} // namespace dlc::codegen
