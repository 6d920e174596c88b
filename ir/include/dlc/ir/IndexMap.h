#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallVector.h"

namespace dlc::dl {

/// `lower <= expr < upper`, over the dims of a result.
struct IndexBound {
  mlir::AffineExpr expr;
  int64_t lower;
  int64_t upper;
};

/// One place an element may come from: the operand's element at `map(result index)`, if all bounds hold.
struct IndexSource {
  unsigned operand;
  mlir::AffineMap map;
  llvm::SmallVector<IndexBound> bounds;
};

} // namespace dlc::dl
