#pragma once

#include "dlc/runtime/Status.h"
#include "targets/cpu/CpuTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace dlc::codegen {

/// LLVM IR of a module of the llvm dialect.
StatusOr<std::unique_ptr<llvm::Module>> translateToLlvm(mlir::ModuleOp module, llvm::LLVMContext &context);

/// A position-independent ELF object, its assembly or its LLVM IR as text. Optimizes first, little, since kernels come
/// vectorised and unrolled; the module is used up.
StatusOr<std::string> emitObject(llvm::Module &module, const CpuTarget &target);
StatusOr<std::string> emitAssembly(llvm::Module &module, const CpuTarget &target);
StatusOr<std::string> emitLlvm(llvm::Module &module, const CpuTarget &target);

/// Lowers kernels (`lowerToLLVMDialect`) and emits their object.
StatusOr<std::string> compileToObject(mlir::ModuleOp module, const CpuTarget &target);

/// An error naming the first symbol that some object uses and neither another nor `provided` defines.
Status checkSelfContained(llvm::ArrayRef<std::string> objects, llvm::ArrayRef<llvm::StringRef> provided = {});

} // namespace dlc::codegen
