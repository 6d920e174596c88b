#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace dlc::codegen {

/// Symbol of the native function of an entry for devices with kernels of their own: `int32_t f(const DlcFrame *)`.
std::string deviceEntrySymbol(llvm::StringRef entry);

/// The launches of an rt.kernel: `count` from `first` on, indices of the manifest's "kernels".
struct KernelRange {
  uint32_t first = 0, count = 0;
};

/// Appends to `host` the function of each rt.program of `module` that starts kernels through the runtime, in the llvm
/// dialect. It is the same for every such device. `launches` says what an rt.kernel became.
void lowerDevicePrograms(mlir::ModuleOp module, mlir::ModuleOp host,
                         llvm::function_ref<KernelRange(llvm::StringRef kernel)> launches);

} // namespace dlc::codegen
