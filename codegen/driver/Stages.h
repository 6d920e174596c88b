#pragma once

#include "dlc/codegen/Compiler.h"
#include "driver/Targets.h"
#include "targets/cpu/Image.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace dlc::codegen {

/// Runs the passes up to a stage (Dl, Fused, or Rt) on a module of an earlier or the same stage.
Status runPasses(mlir::ModuleOp module, Emit stage, const CompileOptions &options, const Targets &targets);

/// The code of an image.
struct NativeCode {
  std::vector<std::string> objects;
  std::vector<std::string> simKernelSymbols; ///< by index of the manifest's "kernels"; "": a call
  std::vector<DeviceCode> deviceCode;
};

/// The native code of an outlined module: host programs and kernels for every target. For GPU targets the module is
/// left with its gpu.module.
StatusOr<NativeCode> compileNative(mlir::ModuleOp module, const Targets &targets, const CompileOptions &options);

/// One module in the llvm dialect with host programs and kernels, for --emit=llvm, asm and obj.
Status lowerToOneModule(mlir::ModuleOp module, const CpuTarget &target);

} // namespace dlc::codegen
