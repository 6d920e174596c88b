#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace dlc::check {

/// Turns f32 into another float type, "f16" or "bf16", throughout a module: types and numbers. Fails on other names,
/// and when an op does not exist in that type.
mlir::LogicalResult retype(mlir::ModuleOp module, llvm::StringRef element);

/// Whether the function has an element of this type.
bool mentions(mlir::func::FuncOp function, llvm::StringRef element);

} // namespace dlc::check
