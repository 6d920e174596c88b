#pragma once

#include "dlc/codegen/Compiler.h"

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace dlc::codegen {

/// Registers every dialect a dl module and its stages use.
void registerDialects(mlir::DialectRegistry &registry);

/// Compiles a module of any stage in place (the module is left outlined). Diagnostics go to the module's context: the
/// caller collects them; the returned status says only which pass failed.
StatusOr<std::unique_ptr<CompiledModule>> compileModule(mlir::ModuleOp module, const CompileOptions &options);

} // namespace dlc::codegen
