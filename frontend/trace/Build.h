#pragma once

#include "dlc/runtime/Status.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "trace/Program.h"

namespace dlc::trace {

/// A module with one entry a program; variables of one name are one variable. Verified.
StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> build(std::span<const Program> programs);

/// Casts where operations have marks of `Autocast`. Which dtypes of 16 bits hold the values of the entry's f32 results;
/// empty without marks.
StatusOr<std::vector<std::optional<DType>>> autocast(mlir::ModuleOp module);

} // namespace dlc::trace
