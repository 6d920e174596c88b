#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <utility>

namespace dlc::codegen {

/// `sum coefficient * term + constant`; a term is a dim, or a floordiv or mod of a sum by a positive constant.
struct LinearForm {
  llvm::SmallVector<std::pair<mlir::AffineExpr, int64_t>> terms;
  int64_t constant = 0;
};

/// Loop dims of known ranges, and what that knowledge makes of affine expressions over them: reshapes and slices of
/// tensors turn into plain linear offsets.
class IndexSpace {
public:
  explicit IndexSpace(mlir::MLIRContext *context) : context(context) {}

  /// A new dim with values in [lower, upper], both inclusive.
  mlir::AffineExpr addDim(int64_t lower, int64_t upper);
  unsigned getNumDims() const { return ranges.size(); }
  mlir::AffineExpr constant(int64_t value) const;

  /// Smallest and largest value, conservative; dims that are empty ranges count as one position.
  std::pair<int64_t, int64_t> range(mlir::AffineExpr expr) const;
  bool contains(mlir::AffineExpr expr, int64_t lower, int64_t upper) const; ///< provably in [lower, upper)

  /// An equal expression in canonical form: equal forms are the same AffineExpr.
  mlir::AffineExpr simplify(mlir::AffineExpr expr);
  LinearForm linearForm(mlir::AffineExpr expr) const;
  /// `map` applied to index expressions, each simplified.
  llvm::SmallVector<mlir::AffineExpr> compose(mlir::AffineMap map, llvm::ArrayRef<mlir::AffineExpr> index);
  /// Row-major offset of an index into `shape`.
  mlir::AffineExpr linearize(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::AffineExpr> index);
  /// Index into `shape` of a row-major offset.
  llvm::SmallVector<mlir::AffineExpr> delinearize(llvm::ArrayRef<int64_t> shape, mlir::AffineExpr offset);

private:
  mlir::AffineExpr build(LinearForm form);
  LinearForm reduce(mlir::AffineExpr expr);
  LinearForm divide(const LinearForm &form, int64_t divisor);
  LinearForm modulo(const LinearForm &form, int64_t divisor);
  bool recombine(LinearForm &form);
  std::pair<int64_t, int64_t> range(const LinearForm &form) const;

  mlir::MLIRContext *context;
  llvm::SmallVector<std::pair<int64_t, int64_t>> ranges;
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> simplified;
};

} // namespace dlc::codegen
