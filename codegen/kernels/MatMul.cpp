#include "kernels/KernelRegistry.h"

namespace dlc::codegen {
void registerMatMulKernels(KernelRegistry &) {}
} // namespace dlc::codegen
