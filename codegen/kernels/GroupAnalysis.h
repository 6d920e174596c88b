#pragma once

#include "dlc/ir/Program.h"
#include "kernels/IndexSpace.h"
#include "kernels/KernelBuilder.h"

namespace dlc::codegen {

/// What evaluating values of a group at an index touches, found without emitting anything.
class AccessCollector {
public:
  explicit AccessCollector(IndexSpace &space) : space(space) {}

  /// Values that are given: only the offset they are read at counts.
  void stopAt(mlir::Value value) { given.insert(value); }
  /// Fails, with an error at the op, on an op that is neither elementwise, nor an index map (indirect or not) or value,
  /// nor constant.
  mlir::LogicalResult visit(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index);

  /// Every offset, bound and index value met.
  llvm::ArrayRef<mlir::AffineExpr> getExprs() const { return exprs; }
  /// Offsets at which given values are read.
  llvm::ArrayRef<std::pair<mlir::Value, mlir::AffineExpr>> getGivenReads() const { return givenReads; }
  llvm::ArrayRef<mlir::Value> getValues() const { return visited; }
  /// Estimated time of one element, when vectorised.
  double getNanoseconds() const { return nanoseconds; }

private:
  IndexSpace &space;
  llvm::DenseSet<mlir::Value> given;
  llvm::DenseSet<std::pair<mlir::Value, mlir::AffineExpr>> seen;
  llvm::SmallVector<mlir::AffineExpr> exprs;
  llvm::SmallVector<std::pair<mlir::Value, mlir::AffineExpr>> givenReads;
  llvm::SmallVector<mlir::Value> visited;
  double nanoseconds = 0;
};

/// Extents of the fewest loops that cover `shape` such that every expression over its dims (dim i of the expressions is
/// dim i of the shape) stays linear: neighbours that are walked as one are merged, extents of 1 vanish.
llvm::SmallVector<int64_t> collapse(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::AffineExpr> exprs);

/// Lanes for a group: those of its widest float type, or of its widest type if it has no floats.
int64_t lanesOf(KernelBuilder &kernel, dl::GroupOp group);

/// Operand `i` of a kernel of the group: wide values of memory that may be narrow.
Memory asStored(dl::GroupOp group, unsigned i, Memory memory);
/// Where result `i` is stored.
Memory resultMemory(KernelBuilder &kernel, dl::GroupOp group, unsigned i);
/// The values the group yields.
mlir::OperandRange resultsOf(dl::GroupOp group);
/// What pass number `pass` over the elements of a group with stages of reductions evaluates: operands of the stage's
/// reductions; in the last pass, of number `stages.size()`, those results of the group that are `domainResults`.
llvm::SmallVector<mlir::Value> passRoots(dl::GroupOp group, llvm::ArrayRef<llvm::SmallVector<mlir::Operation *>> stages,
                                         llvm::ArrayRef<unsigned> domainResults, size_t pass);
int64_t product(llvm::ArrayRef<int64_t> extents);
int64_t bytesOf(mlir::Type element);

} // namespace dlc::codegen
