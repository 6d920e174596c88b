#pragma once

#include "dlc/ir/PoolDims.h"
#include "dlc/ir/ScalarBuilder.h"
#include "kernels/CpuTraits.h"
#include "kernels/Epilogue.h"
#include "kernels/Loops.h"

namespace dlc::codegen {

/// Emission of 2-D pooling: planes, windows and what they share.
class PoolEmitter {
public:
  PoolEmitter(KernelBuilder &kernel, dl::GroupOp group, mlir::Operation *anchor, const dl::PoolDims &dims);

protected:
  using RowBody = llvm::function_ref<void(ElementScope &row, mlir::AffineExpr plane, mlir::AffineExpr line)>;
  /// A parallel loop over the lines of all planes of `lines` x anything.
  void forLines(int64_t lines, double nanoseconds, RowBody body);

  /// Vectors that cover columns [0, columns); the last one may begin early, its `fresh` lanes are those not done yet.
  using ColumnBody =
      llvm::function_ref<void(ElementScope &lanes, mlir::AffineExpr column, mlir::Value first, mlir::Value fresh)>;
  void forColumns(ElementScope &row, int64_t columns, ColumnBody body);

  /// Folds the elements of window (i, j) in row-major order. `carried` is empty at the first one where the taps are
  /// written out, else it starts as `start`.
  using Tap = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      ElementScope &scope, llvm::ArrayRef<mlir::Value> carried, mlir::AffineExpr h, mlir::AffineExpr w)>;
  llvm::SmallVector<mlir::Value> foldWindow(ElementScope &lanes, mlir::AffineExpr i, mlir::AffineExpr j,
                                            llvm::ArrayRef<mlir::Value> start, Tap tap);

  /// The maximum, or the sum from -0, of window (i, j) of operand `input`.
  mlir::Value window(ElementScope &scope, unsigned input, bool average, mlir::AffineExpr plane, mlir::AffineExpr i,
                     mlir::AffineExpr j);
  /// Position in its plane of a window's first maximum, i32; a window of -inf alone keeps its first element.
  mlir::Value maximumPosition(ElementScope &scope, unsigned input, mlir::AffineExpr plane, mlir::AffineExpr i,
                              mlir::AffineExpr j);
  /// The windows that hold input element (h, w), in row-major order: at most so many along each axis.
  int64_t windowsAlong(int axis) const;
  /// Window (i, j) = (latest[0] - back[0], latest[1] - back[1]) and whether it is one of them (null: always).
  struct Covering {
    mlir::AffineExpr i, j;
    mlir::Value live;
  };
  Covering covering(ElementScope &scope, mlir::AffineExpr h, mlir::AffineExpr w, mlir::AffineExpr backI,
                    mlir::AffineExpr backJ);

  /// Whether all of 0 <= expr[axis] < extent[axis] hold, as i1 of the scope; null when they always do.
  mlir::Value inside(ElementScope &scope, llvm::ArrayRef<mlir::AffineExpr> exprs, const int64_t (&extents)[2]);
  /// The divisor of an average at window (i, j), a float.
  mlir::Value divisor(ElementScope &scope, mlir::AffineExpr i, mlir::AffineExpr j);
  mlir::Value divisorFactor(ElementScope &scope, int axis, mlir::AffineExpr window);
  mlir::Value load(ElementScope &scope, unsigned operand, const int64_t (&plane)[2], mlir::AffineExpr number,
                   mlir::AffineExpr i, mlir::AffineExpr j, mlir::Value guard);
  dl::ScalarBuilder scalars(ElementScope &scope) {
    return dl::ScalarBuilder(kernel.getBuilder(), kernel.getLoc(), scope.getLane().width);
  }
  /// Whether `x` replaces the maximum so far: larger, or the first NaN.
  mlir::Value isBetter(dl::ScalarBuilder &b, mlir::Value x, mlir::Value best);

  KernelBuilder &kernel;
  dl::GroupOp group;
  mlir::Operation *anchor;
  dl::PoolDims dims;
  IndexSpace space;
  mlir::Type element;
};

mlir::LogicalResult emitMaxPoolGrad(KernelBuilder &kernel, dl::GroupOp group, mlir::Operation *anchor,
                                    const CpuTraits &traits);
int64_t maxPoolGradWorkspaceBytes(mlir::Operation *anchor, const CpuTraits &traits);
mlir::LogicalResult emitAvgPoolGrad(KernelBuilder &kernel, dl::GroupOp group, mlir::Operation *anchor,
                                    const CpuTraits &traits);

} // namespace dlc::codegen
