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

/// An element of a table of positions says where along one dim an element comes from: it is the operand's element at
/// `map(result index, position)`, where position is the element of operand `positions` at `positionMap(result index)`.
struct IndirectSource {
  unsigned operand;
  unsigned positions;
  mlir::AffineMap positionMap;
  mlir::AffineMap map; ///< has one dim more than the result, the last one: the position
  int64_t extent;      ///< positions outside [0, extent) give NaN, integers and i1 give 0
};

} // namespace dlc::dl
