#pragma once

#include "kernels/KernelBuilder.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <optional>

namespace dlc::codegen {

/// A loop over terms of the sum: how many, and how far one step moves in A and in B, in elements.
struct ReductionLoop {
  int64_t extent;
  int64_t a;
  int64_t b;
};

/// `rows` x `columns` accumulators held in vector registers while the terms of a sum stream by:
///   acc[r][c] = sum over the loops of A[base + rows[r] + …] * B[base + columns[c].offset + … + lane * laneStride]
/// Each accumulator is one fma chain from 0 in the order of the loops, so neither the tile's shape nor the vector width
/// changes a bit of the result. Blocks cut the outermost loop into pieces (the last may be shorter) whose sums are
/// added in order; leaves cut it into pieces that are each summed so, and added as a balanced binary tree.
struct RegisterTile {
  struct Column {
    int64_t offset;
    int64_t live; ///< lanes that exist; the rest are not read
  };
  mlir::Type element;
  int64_t lanes = 0;
  int64_t laneStride = 1;
  llvm::SmallVector<int64_t> rows;
  llvm::SmallVector<Column> columns;
  llvm::SmallVector<ReductionLoop> loops; ///< outermost first
  int64_t blockExtent = 0;                ///< steps of the outermost loop in a block; 0: all
  int64_t leaves = 1;                     ///< a power of two; those behind the loop's end add nothing
  int64_t leafExtent = 0;                 ///< steps of the outermost loop in a leaf, where there are several
  std::optional<Memory> wideRows =
      {}; ///< scratch to which rows of A, of one loop, are converted; WideRows has its size

  /// The accumulators, row by row. With `start`, the chains go on from there; not together with blocks or leaves.
  llvm::SmallVector<mlir::Value> emit(KernelBuilder &kernel, Memory a, mlir::Value aBase, Memory b, mlir::Value bBase,
                                      llvm::ArrayRef<mlir::Value> start = {}) const;
};

/// How a loop over `extent` is cut into tiles of at most `most`: `large` tiles of `size` + 1, then `small` of `size`.
struct TileSplit {
  int64_t size;
  int64_t large;
  int64_t small;
  static TileSplit of(int64_t extent, int64_t most);
  int64_t count() const { return large + small; }
};

/// Emits, for tiles [lo, hi) of a split (i64 values), a loop a tile height; `body` gets the first row and the height.
void forEachTile(KernelBuilder &kernel, const TileSplit &split, mlir::Value lo, mlir::Value hi,
                 llvm::function_ref<void(mlir::Value first, int64_t height)> body);

/// i64 constants and arithmetic, folded where the operands allow it.
mlir::Value i64(KernelBuilder &kernel, int64_t value);
mlir::Value addOffset(KernelBuilder &kernel, mlir::Value base, int64_t offset);
mlir::Value add(KernelBuilder &kernel, mlir::Value a, mlir::Value b);
mlir::Value scaled(KernelBuilder &kernel, mlir::Value value, int64_t factor);

/// The first `live` of `lanes` elements at offset, offset + stride, …; the other lanes are 0 and not read.
mlir::Value loadLanes(KernelBuilder &kernel, Memory memory, mlir::Value offset, int64_t stride, int64_t live,
                      int64_t lanes);
/// Stores the first `live` of the vector's elements at offset, offset + stride, …
void storeLanes(KernelBuilder &kernel, Memory memory, mlir::Value offset, int64_t stride, int64_t live,
                mlir::Value vector);
/// A vector mask of the first `live` of `lanes`; null when all are.
mlir::Value prefixMask(KernelBuilder &kernel, int64_t live, int64_t lanes);

/// for (i = lo; i < hi; ++i) body(i)
void forLoop(KernelBuilder &kernel, mlir::Value lo, mlir::Value hi, llvm::function_ref<void(mlir::Value)> body);

} // namespace dlc::codegen
