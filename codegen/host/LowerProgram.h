#pragma once

#include "dlc/ir/Rt.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace dlc::codegen {

/// Symbol of the native function of an entry: `int32_t f(const DlcFrame *)`.
std::string entrySymbol(llvm::StringRef entry);

/// Symbol of the function that runs all phases of a kernel: `void f(const DlcApi *, DlcExecutor *, void *const
/// *pointers)`; pointers are the reads, the writes, then the workspace.
std::string kernelSymbol(llvm::StringRef kernel);

/// Appends to `host` the native function of each rt.program of `module`, in the llvm dialect. Kernels are called
/// through declarations of hidden visibility: their code is another object of the same image.
void lowerPrograms(mlir::ModuleOp module, mlir::ModuleOp host);

} // namespace dlc::codegen
