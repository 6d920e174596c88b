#pragma once

#include "dlc/runtime/Status.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "trace/Program.h"

namespace dlc::trace {

/// A module with one entry a program; variables of one name are one variable. Verified.
StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> build(std::span<const Program> programs);

} // namespace dlc::trace
