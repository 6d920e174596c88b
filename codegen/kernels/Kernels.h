#pragma once

#include "dlc/ir/Program.h"
#include "kernels/CpuTraits.h"
#include "kernels/KernelBuilder.h"

namespace dlc::codegen {

/// Emits the phases of a group's kernel: operands are the group's inputs, then its results, dense and row-major.
/// Fails, with an error at the op, when a group is not what its kind promises.
mlir::LogicalResult emitKernel(KernelBuilder &kernel, dl::GroupOp group, const CpuTraits &traits);

/// Bytes of workspace the kernel needs besides its operands.
int64_t workspaceBytes(dl::GroupOp group, const CpuTraits &traits);

} // namespace dlc::codegen
