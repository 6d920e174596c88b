#pragma once

#include "mlir/IR/Operation.h"

namespace dlc::dl {

/// Whether elements are floats of 16 bits: arithmetic on them is done as f32 and rounded once.
bool hasNarrowFloats(mlir::Type type);

/// Whether an operand or a result of the op holds such floats.
bool touchesNarrowFloats(mlir::Operation *op);

/// Whether the op computes with such floats, which it does as f32: all but moves of elements, constants and casts.
bool computesNarrowFloats(mlir::Operation *op);

/// Whether the op is a cast of such floats to f32, which is exact, and what kernels do as they read.
bool widensNarrowFloats(mlir::Operation *op);

/// Unit attribute of an op with a kernel of its own that dl::widen made. A device's instructions for products of 16-bit
/// floats are for these alone: an op of f32 has the same bits wherever its operands were cast.
inline constexpr llvm::StringLiteral kWidenedAttr = "dl.widened";

/// Replaces the op by the same op of f32, its operands cast to f32 and its results cast back. The new op.
mlir::Operation *widen(mlir::Operation *op);

/// Widens all composite ops without a kernel of their own, so that neither their decompositions nor their derivatives
/// round on the way.
void widenComposites(mlir::Operation *root);

} // namespace dlc::dl
