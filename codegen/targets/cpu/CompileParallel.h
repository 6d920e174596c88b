#pragma once

#include "dlc/runtime/Status.h"
#include "targets/cpu/CpuTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <functional>
#include <string>
#include <vector>

namespace dlc::codegen {

/// What a worker does with a module before `compileToObject`; both may be empty.
struct ParallelStages {
  std::function<void(mlir::DialectRegistry &)> registerDialects; ///< besides `registerCpuDialects`
  std::function<mlir::LogicalResult(mlir::ModuleOp)> emitKernels;
};

/// Bytecode of a module, to travel to a worker.
std::string toBytecode(mlir::ModuleOp module);

/// Compiles independent modules (bytecode or text) to objects, in order of input. Each of the at most `threads` workers
/// has an MLIR and an LLVM context of its own; the first error, by position, is returned.
StatusOr<std::vector<std::string>> compileInParallel(llvm::ArrayRef<std::string> modules, const CpuTarget &target,
                                                     unsigned threads, const ParallelStages &stages = {});

} // namespace dlc::codegen
