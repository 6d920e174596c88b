#pragma once

#include "dlc/ir/Sharding.h"

namespace dlc::dl {

// Sums whose order the number of members does not change: parts of a dim, the leaves, each summed by itself, then added
// as a balanced binary tree.

/// x with as many indices along the dim as the leaves have together, the missing ones filled with the scalar.
mlir::Value fillLeaves(mlir::OpBuilder &b, mlir::Value x, int64_t dim, LeafSplit leaves, mlir::TypedAttr filler);

/// The same with the dim as [leaves, indices of a leaf].
mlir::Value cutIntoLeaves(mlir::OpBuilder &b, mlir::Value x, int64_t dim, LeafSplit leaves, mlir::TypedAttr filler);

/// Leaves along `dim`, a power of two of them, added; the dim is gone.
mlir::Value addLeaves(mlir::OpBuilder &b, mlir::Value x, int64_t dim);

} // namespace dlc::dl
