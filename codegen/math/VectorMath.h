#pragma once

#include "mlir/IR/PatternMatch.h"

namespace dlc::codegen {

/// Patterns that replace transcendental `math.*` ops, `arith.remf` and the narrow `arith.truncf` by inlined arithmetic:
/// f32 and f64, scalars and vectors of rank 1, no calls, one result on every target. `math.fma`, `sqrt`, `roundeven`,
/// `trunc`, `absf` and `copysign` stay: every supported target has them as instructions.
void populateVectorMathPatterns(mlir::RewritePatternSet &patterns);

/// Applies them once to everything below `root`.
void expandMath(mlir::Operation *root);

} // namespace dlc::codegen
