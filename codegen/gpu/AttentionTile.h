#pragma once

#include "dlc/ir/AttentionDims.h"
#include "mlir/IR/Types.h"

namespace dlc::codegen {

/// How attention is cut on a GPU, from its shape and element type alone: shared memory of a block stays below 48 KiB,
/// whatever depth and width are.
struct AttentionTile {
  static constexpr int64_t across = 16; ///< threads that share a query: half a warp

  int64_t lanes;     ///< elements of a vector in shared memory
  int64_t down;      ///< threads along queries
  int64_t each;      ///< queries of a thread, neighbours
  int64_t keys;      ///< of a tile
  int64_t depth;     ///< terms of a score that are in shared memory at a time, a multiple of `lanes`
  int64_t chunks;    ///< of the depth
  int64_t values;    ///< keys whose values are in shared memory at a time, a part of a tile
  int64_t blocks;    ///< that share the columns of y, each with all the scores
  int64_t columns;   ///< of a block
  int64_t group;     ///< neighbouring columns of a thread, a vector
  int64_t registers; ///< the most of a thread

  static AttentionTile of(const dl::AttentionDims &dims, mlir::Type element);

  int64_t threads() const { return down * across; }
  int64_t queries() const { return down * each; }
  int64_t eachKeys() const { return keys / across; }
  int64_t eachColumns() const { return columns / across; }
  /// Elements from row to row in shared memory, an odd number of vectors: threads that read a column of vectors meet
  /// different banks.
  int64_t pitch() const { return depth + (depth / lanes % 2 ? 0 : lanes); }
  int64_t weightPitch() const { return keys + (keys / lanes % 2 ? 0 : lanes); }
};

} // namespace dlc::codegen
