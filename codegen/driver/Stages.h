#pragma once

#include "dlc/codegen/Compiler.h"
#include "targets/cpu/CpuTarget.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace dlc::codegen {

/// The target a name stands for: "host", "x86-64-v3", "x86-64-v4".
StatusOr<CpuTarget> targetOf(const std::string &cpu);

/// Runs the passes up to a stage (Dl, Fused, or Rt) on a module of an earlier or the same stage.
Status runPasses(mlir::ModuleOp module, Emit stage, const CompileOptions &options, const CpuTarget &target);

/// The native objects of an outlined module: the host programs, and the kernels on several threads.
StatusOr<std::vector<std::string>> compileObjects(mlir::ModuleOp module, const CpuTarget &target);

/// One module in the llvm dialect with host programs and kernels, for --emit=llvm, asm and obj.
Status lowerToOneModule(mlir::ModuleOp module, const CpuTarget &target);

} // namespace dlc::codegen
