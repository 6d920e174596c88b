#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace dlc::codegen {

/// The dialects kernels are written in, and what the translation to LLVM IR needs.
void registerCpuDialects(mlir::DialectRegistry &registry);

/// Loads those dialects now, for code that builds kernels outside a pass.
void loadCpuDialects(mlir::MLIRContext &context);

/// scf, cf, arith, math, vector, func, ub and llvm ops to the llvm dialect in one conversion; math is expanded first.
/// Fails, with a diagnostic, also when a function is left undefined that does not promise (by hidden visibility) to be
/// in the same image.
mlir::LogicalResult lowerToLLVMDialect(mlir::ModuleOp module);

/// Registers the pass `dlc-lower-cpu`.
void registerCpuPasses();

} // namespace dlc::codegen
