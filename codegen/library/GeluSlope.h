#pragma once

#include "dlc/ir/Program.h"

namespace dlc::codegen {

/// What a value is but for roundings to 16 bits.
mlir::Value unrounded(mlir::Value value);

/// The value of which `slope` is the derivative of gelu, in its tanh form, as the adjoint of dl.gelu writes it; null:
/// it is something else.
mlir::Value geluSlopeOf(mlir::Value slope);

} // namespace dlc::codegen
