#pragma once

#include "gpu/GpuKernelBuilder.h"
#include "kernels/OpRegistry.h"

namespace dlc::codegen {

/// A GPU kernel of an op with one of its own.
struct GpuEmitter {
  mlir::LogicalResult (*emit)(GpuKernelBuilder &kernel, dl::GroupOp group, mlir::Operation *anchor);
  int64_t (*workspaceBytes)(dl::GroupOp group, mlir::Operation *anchor,
                            const GpuOptions &options) = nullptr; ///< null: none
};

/// Every family registers its ops. An op without an entry has its CPU kernel run over `parallelRange`.
class GpuRegistry : public OpRegistry<GpuEmitter> {
public:
  explicit GpuRegistry(mlir::MLIRContext *context);
};

/// The CPU's kernel over `parallelRange`, right for every group and slow, for what an emitter does not cover.
mlir::LogicalResult emitGpuFallback(GpuKernelBuilder &kernel, dl::GroupOp group);
int64_t gpuFallbackWorkspaceBytes(dl::GroupOp group);

// The families, each in its own file.
#define DLC_GPU_FAMILY(Name) void register##Name##GpuKernels(GpuRegistry &registry);
#include "gpu/GpuFamilies.inc"
#undef DLC_GPU_FAMILY

} // namespace dlc::codegen
