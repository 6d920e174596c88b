#pragma once

#include "dlc/runtime/Status.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace dlc::codegen {

/// scf, cf, arith, math, vector, ub and gpu ops of a gpu.module to the llvm and nvvm dialects in one conversion; math
/// is expanded first. Fails, with a diagnostic, also when a function is left undefined.
mlir::LogicalResult lowerToNvvm(mlir::gpu::GPUModuleOp module);

/// A lowered gpu.module as LLVM IR for nvptx64, simplified: what PTX and the simulated device are both made of. Needs
/// no NVPTX target. Fails when something is called that LLVM does not provide.
StatusOr<std::unique_ptr<llvm::Module>> translateGpu(mlir::gpu::GPUModuleOp module, llvm::LLVMContext &context);

} // namespace dlc::codegen
