#pragma once

#include "kernels/CpuTraits.h"
#include "kernels/KernelBuilder.h"
#include "kernels/OpRegistry.h"

namespace dlc::codegen {

/// A kernel on the cpu, for an op with one of its own (OwnKernelOpInterface).
struct KernelEmitter {
  mlir::LogicalResult (*emit)(KernelBuilder &kernel, dl::GroupOp group, mlir::Operation *anchor,
                              const CpuTraits &traits);
  int64_t (*workspaceBytes)(mlir::Operation *anchor, const CpuTraits &traits); ///< null: none
};

/// Every family registers its ops.
class KernelRegistry : public OpRegistry<KernelEmitter> {
public:
  explicit KernelRegistry(mlir::MLIRContext *context);
};

// The families, each in its own file.
#define DLC_KERNEL_FAMILY(Name) void register##Name##Kernels(KernelRegistry &registry);
#include "kernels/KernelFamilies.inc"
#undef DLC_KERNEL_FAMILY

} // namespace dlc::codegen
