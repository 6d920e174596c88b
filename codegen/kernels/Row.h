#pragma once

#include "kernels/Accumulators.h"
#include "kernels/GroupAnalysis.h"
#include "kernels/Loops.h"

namespace dlc::codegen {

/// Virtual lanes of a reduction, and elements of one chunk: fixed, since they decide the order of additions.
constexpr int64_t virtualLanes = 32, chunkElements = 16384;

/// A row group taken apart: the domain is `rows` x `columns`; reductions of one stage depend on those of earlier ones.
struct RowGroup {
  /// Fails, with an error, when the group is no row group.
  static mlir::FailureOr<RowGroup> analyse(dl::GroupOp group, IndexSpace &space);

  dl::GroupOp group;
  llvm::ArrayRef<int64_t> domain, outer, inner; ///< shapes; the domain is outer followed by inner
  int64_t rows, columns;
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> stages;
  llvm::SmallVector<unsigned> domainResults, rowResults; ///< numbers of results of the domain's and of the outer shape
  double nanoseconds = 0;                                ///< of one element, all passes

  /// Index of an element of the domain; its first dims are that of the row.
  llvm::SmallVector<mlir::AffineExpr> index(IndexSpace &space, mlir::AffineExpr row, mlir::AffineExpr column) const;
  llvm::SmallVector<mlir::AffineExpr> rowIndex(IndexSpace &space, mlir::AffineExpr row) const;
  llvm::SmallVector<mlir::Value> rootsOf(size_t pass) const { return passRoots(group, stages, domainResults, pass); }
};

/// Reads of one pass: elements [first, first + 32 * steps) in steps of all virtual lanes, then a tail of less.
struct LaneSpan {
  mlir::Value lo, hi; ///< i64, steps of 32 elements from the row's start
  int64_t steps;      ///< of the whole row
  bool never;         ///< lo == hi always
  int64_t tail;       ///< elements after the last step
  mlir::Value tailCondition;
};

/// Values of the operands at a column, in a vector scope.
using LaneElements = llvm::function_ref<llvm::SmallVector<mlir::Value>(ElementScope &lanes, mlir::AffineExpr column)>;

/// Accumulates in lane order: element k goes to lane k mod 32, lanes are combined by halving. Returns scalars.
llvm::SmallVector<mlir::Value> emitLaneOrder(ElementScope &scope, Accumulators &accumulators, const LaneSpan &span,
                                             int64_t width, LaneElements elements);

/// Rows longer than a chunk: partial results of chunks in workspace.
mlir::LogicalResult emitChunkedRows(KernelBuilder &kernel, IndexSpace &space, const RowGroup &rows);

} // namespace dlc::codegen
