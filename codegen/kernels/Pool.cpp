#include "kernels/KernelRegistry.h"

namespace dlc::codegen {
void registerPoolKernels(KernelRegistry &) {}
} // namespace dlc::codegen
