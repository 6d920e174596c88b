#pragma once

#include "dlc/ir/Program.h"
#include "kernels/CpuTraits.h"
#include "kernels/KernelBuilder.h"

namespace dlc::codegen {

// The emitter of each kind of group; see its file for loops and order of additions.
mlir::LogicalResult emitPointwise(KernelBuilder &kernel, dl::GroupOp group);
mlir::LogicalResult emitRow(KernelBuilder &kernel, dl::GroupOp group);
mlir::LogicalResult emitColumn(KernelBuilder &kernel, dl::GroupOp group);
mlir::LogicalResult emitHorizontal(KernelBuilder &kernel, dl::GroupOp group);

int64_t rowWorkspaceBytes(dl::GroupOp group);
int64_t columnWorkspaceBytes(dl::GroupOp group);

} // namespace dlc::codegen
