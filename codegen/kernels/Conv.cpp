#include "kernels/KernelRegistry.h"

namespace dlc::codegen {
void registerConvKernels(KernelRegistry &) {}
} // namespace dlc::codegen
