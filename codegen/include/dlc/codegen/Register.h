#pragma once

namespace mlir {
class DialectRegistry;
}

namespace dlc::codegen {

/// Makes the passes of code generation (`dlc-lower-cpu`, …) and the dialects they need known to a tool.
void registerPasses(mlir::DialectRegistry &registry);

} // namespace dlc::codegen
