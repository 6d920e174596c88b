#pragma once

#include "mlir/IR/Types.h"

#include <string>

namespace dlc::codegen {

/// Whether `auto` takes the library for an op ("MatMul"), elements that are multiplied ("f32", "bf16" or, of f32 where
/// tensor cores may see them, "tf32") and work in multiply-adds, on every one of `archs` ("sm_90"): Choices.inc.
bool prefersLibrary(llvm::StringRef op, mlir::Type element, double multiplyAdds, llvm::ArrayRef<std::string> archs);

} // namespace dlc::codegen
