#pragma once

#include "dlc/runtime/Status.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace dlc::codegen {

/// What is known of one kernel before it has run.
struct KernelReport {
  std::string kernel;
  std::array<int64_t, 3> grid, block;
  int64_t movedBytes = 0; ///< of the operands a launch touches, each once

  /// From ptxas; occupancy: warps that a full multiprocessor holds, as a share of those it could hold.
  struct Assembly {
    int64_t registers = 0, spillStores = 0, spillLoads = 0, stackBytes = 0, sharedBytes = 0;
    double occupancy = 0;
  };
  std::optional<Assembly> assembly; ///< missing without ptxas
};

/// Of every kernel of a gpu.module as emitted (not lowered yet) and the PTX made of it.
StatusOr<std::vector<KernelReport>> reportKernels(mlir::gpu::GPUModuleOp kernels, llvm::StringRef ptx,
                                                  llvm::StringRef arch);

/// An array with an object a kernel.
std::string toJson(llvm::ArrayRef<KernelReport> reports);

} // namespace dlc::codegen
