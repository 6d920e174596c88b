#pragma once

#include "dlc/ir/Rt.h"
#include "kernels/CpuTraits.h"

namespace dlc::codegen {

/// Replaces an rt.kernel by its native functions: one of each phase, and `kernelSymbol` that runs them in order, alone
/// or shared by the threads of the executor.
mlir::LogicalResult emitKernelFunction(rt::KernelOp kernel, const CpuTraits &traits);

} // namespace dlc::codegen
