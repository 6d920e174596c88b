#pragma once

#include "dlc/runtime/Manifest.h"
#include "driver/Targets.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace dlc::codegen {

/// What the runtime needs to know of an outlined module, and the bytes of its given initial values and constants.
struct ImageData {
  Manifest manifest;
  std::string initial; ///< each value starts at a multiple of 64 bytes
};

ImageData buildImageData(mlir::ModuleOp module, const Targets &targets);

} // namespace dlc::codegen
