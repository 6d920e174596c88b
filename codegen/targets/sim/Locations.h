#pragma once

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace dlc::codegen {

/// Makes the translation of a lowered gpu.module keep the lines of the program, for messages of the simulated device:
/// gives each function a debug scope, and each op the innermost line of its location.
void keepLocations(mlir::gpu::GPUModuleOp module);

} // namespace dlc::codegen
