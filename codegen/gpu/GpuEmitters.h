#pragma once

#include "gpu/GpuKernelBuilder.h"

namespace dlc::codegen {

// The emitter of each kind of group; see its file for the loop nest and the order of additions.
mlir::LogicalResult emitGpuPointwise(GpuKernelBuilder &kernel, dl::GroupOp group);
mlir::LogicalResult emitGpuRow(GpuKernelBuilder &kernel, dl::GroupOp group);
mlir::LogicalResult emitGpuColumn(GpuKernelBuilder &kernel, dl::GroupOp group);
mlir::LogicalResult emitGpuHorizontal(GpuKernelBuilder &kernel, dl::GroupOp group);

int64_t gpuRowWorkspaceBytes(dl::GroupOp group);
int64_t gpuColumnWorkspaceBytes(dl::GroupOp group);

} // namespace dlc::codegen
