#pragma once

#include "dlc/runtime/Manifest.h"
#include "driver/Stages.h"

#include "mlir/IR/BuiltinOps.h"

namespace dlc::codegen {

/// Adds to an outlined module the gpu.module with all its kernels' launches, in place of the rt.kernel ops. A module
/// that has one already is left as it is, so that an edited one can be compiled.
Status emitGpuStage(mlir::ModuleOp module, const Targets &targets);

/// Whether a module is of that stage already, and so past all passes. Refuses one that launches what is no kernel, or
/// that is to be compiled for the cpu too.
StatusOr<bool> isGpuStage(mlir::ModuleOp module, const Targets &targets);

/// The launches of a module of that stage, in the order of its functions, and where each came from.
std::vector<KernelInfo> describeKernels(mlir::ModuleOp module, std::vector<SiteInfo> &sites);

/// Adds the code of a module of that stage for every target but the cpu.
Status compileForDevices(mlir::ModuleOp module, const Targets &targets, const CompileOptions &options,
                         NativeCode &code);

/// The gpu.module in the llvm and nvvm dialects, or what comes after it: the text of a stage from Emit::Nvvm on.
StatusOr<std::string> printKernels(mlir::ModuleOp module, Emit stage, const Targets &targets);

} // namespace dlc::codegen
