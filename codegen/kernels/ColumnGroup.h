#pragma once

#include "kernels/GroupAnalysis.h"

namespace dlc::codegen {

/// A column group taken apart: reductions over axes of which at least one is not last.
struct ColumnGroup {
  /// Fails, with an error, when the group is no column group.
  static mlir::FailureOr<ColumnGroup> analyse(dl::GroupOp group, IndexSpace &space);

  /// Index of an element of the domain.
  llvm::SmallVector<mlir::AffineExpr> index(IndexSpace &space, mlir::AffineExpr output, mlir::AffineExpr row) const;
  llvm::SmallVector<mlir::AffineExpr> outputIndex(IndexSpace &space, mlir::AffineExpr output) const {
    return space.delinearize(kept, output);
  }
  dl::GroupOp group;
  llvm::SmallVector<mlir::Operation *> reductions;
  llvm::SmallVector<bool> isReduced;        ///< by axis of the domain
  llvm::SmallVector<int64_t> kept, reduced; ///< extents
  int64_t outputs, rows;                    ///< rows: reduced elements of an output
  int64_t innerKept = 1,
          innerRows = 1;  ///< product of the last kept axes after all reduced ones; of the last run of reduced ones
  double nanoseconds = 0; ///< of one element
  size_t values = 0;      ///< evaluated for one element
};

} // namespace dlc::codegen
