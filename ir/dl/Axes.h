#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

namespace dlc::dl {

/// Axes of a tensor of this rank: in range and each at most once; `name` is the attribute's, for the error.
inline mlir::LogicalResult checkAxes(std::optional<mlir::Location> location, llvm::StringRef name,
                                     llvm::ArrayRef<int64_t> axes, int64_t rank) {
  llvm::SmallVector<bool> seen(rank, false);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rank)
      return mlir::emitOptionalError(location, "expects ", name, " in [0, ", rank, "), got ", axis);
    if (seen[axis])
      return mlir::emitOptionalError(location, "expects each of ", name, " once, got ", axis, " twice");
    seen[axis] = true;
  }
  return mlir::success();
}

/// As checkAxes, and strictly ascending.
inline mlir::LogicalResult checkAscendingAxes(std::optional<mlir::Location> location, llvm::StringRef name,
                                              llvm::ArrayRef<int64_t> axes, int64_t rank) {
  if (mlir::failed(checkAxes(location, name, axes, rank)))
    return mlir::failure();
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] < axes[i - 1])
      return mlir::emitOptionalError(location, "expects ", name, " ascending, got ", axes[i], " after ", axes[i - 1]);
  return mlir::success();
}

/// The parts that fix a sum's order.
inline mlir::LogicalResult checkLeaves(mlir::Operation *op, uint64_t leaves) {
  if (llvm::isPowerOf2_64(leaves) && int64_t(leaves) > 0)
    return mlir::success();
  return op->emitOpError("expects leaves to be a power of two, got ") << int64_t(leaves);
}

/// One entry a dimension.
inline mlir::LogicalResult checkCount(std::optional<mlir::Location> location, llvm::StringRef name,
                                      llvm::ArrayRef<int64_t> entries, int64_t count) {
  if (int64_t(entries.size()) == count)
    return mlir::success();
  return mlir::emitOptionalError(location, "expects ", count, " entries in ", name, ", got ", entries.size());
}

/// One entry a dimension, each at least `least`.
inline mlir::LogicalResult checkAtLeast(std::optional<mlir::Location> location, llvm::StringRef name,
                                        llvm::ArrayRef<int64_t> entries, int64_t count, int64_t least) {
  if (mlir::failed(checkCount(location, name, entries, count)))
    return mlir::failure();
  for (int64_t entry : entries)
    if (entry < least)
      return mlir::emitOptionalError(location, "expects ", name, " of at least ", least, ", got ", entry);
  return mlir::success();
}

} // namespace dlc::dl
