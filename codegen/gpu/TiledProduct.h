#pragma once

#include "dlc/ir/IndexMap.h"
#include "gpu/GpuKernelBuilder.h"
#include "kernels/Epilogue.h"

namespace dlc::codegen {

/// A factor of a product of matrices: its element of line `d1` (a row of the left factor, a column of the right one)
/// and term `d2` in batch `d0`, as an offset in an operand of the kernel.
struct ProductFactor {
  unsigned operand = 0;
  mlir::AffineExpr offset = {};
  llvm::SmallVector<dl::IndexBound> bounds = {}; ///< elements outside count as 0
  bool termsAreNear = false;                     ///< neighbours in memory, if any, follow `d2` rather than `d1`
};

/// y[batch, row, column] = sum over terms of left[batch, row, term] * right[batch, column, term]: contractions and, by
/// their index maps, convolutions.
struct TiledProduct {
  mlir::Type element;
  int64_t batch, rows, columns, terms;
  ProductFactor left = {}, right = {};
  mlir::AffineExpr result = {};                        ///< offset in the result, over batch `d0`, row `d1`, column `d2`
  llvm::SmallVector<dl::IndexBound> resultBounds = {}; ///< what is outside is not stored
  int64_t resultCount = 0;                             ///< elements of the result
  mlir::Type core = {}; ///< of the factors of f32 sums where tensor cores multiply: f16, bf16, tf32; null: they do not

  /// Factors as they are moved.
  mlir::Type factorType() const;
  /// Of a word of 32 bits, as tensor cores take them.
  int64_t factorsOfWord() const { return 32 / (core.isTF32() ? 32 : 16); }
  /// Terms of one `mma.sync`.
  int64_t coreTerms() const { return 8 * factorsOfWord(); }
};

/// What tensor cores multiply: the type of 16 bits from which both operands of a product of f32 are read, else tf32
/// where that is allowed; null: nothing.
mlir::Type coreTypeOf(mlir::Operation *anchor, const GpuOptions &options);

/// How a product is cut, from its shape and element types alone. [0]: rows, [1]: columns. Where tensor cores
/// multiply, the lines of a thread are those of its places in the results of `mma.sync`, 16 x 8 each.
struct ProductTile {
  int64_t lines[2]; ///< of a block
  int64_t each[2];  ///< of a thread
  int64_t step;     ///< terms that are in shared memory at a time
  int64_t parts;    ///< of the terms, each summed by blocks of its own
  int64_t steps;    ///< of a part
  /// Vectors from global memory, of either factor: along terms or along lines, and how wide.
  bool alongTerms[2];
  int64_t width[2];

  static ProductTile of(const TiledProduct &product);
  int64_t threads(int side) const { return lines[side] / each[side]; }
  int64_t threads() const { return threads(0) * threads(1); }
  /// Vectors a thread copies in a step.
  int64_t vectors(int side) const { return lines[side] * step / (width[side] * threads()); }
};

/// Threads of a warp along rows and columns of the result of `mma.sync`.
constexpr int64_t coreThreads[] = {8, 4};

/// Bytes of the sums of the parts.
int64_t tiledProductWorkspaceBytes(const TiledProduct &product);

/// Emits the product, whose result goes through `epilogue`. A sum is one fma chain from 0 in the order of the terms;
/// with several parts, one for each, added in order from the first by a second launch.
void emitTiledProduct(GpuKernelBuilder &kernel, const TiledProduct &product, Epilogue &epilogue);

/// The largest power of two, at most `most`, such that so many neighbours along dim `along` of `extents` always are
/// neighbours in memory, begin at a multiple of their number, and are all inside of the bounds or all outside.
int64_t vectorWidthAlong(llvm::ArrayRef<int64_t> extents, unsigned along, mlir::AffineExpr offset,
                         llvm::ArrayRef<dl::IndexBound> bounds, int64_t most);

} // namespace dlc::codegen
