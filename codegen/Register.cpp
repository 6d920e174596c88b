#include "dlc/codegen/Register.h"

#include "gpu/GpuKernels.h"
#include "targets/cpu/Lower.h"
#include "targets/cuda/Ptx.h"

void dlc::codegen::registerPasses(mlir::DialectRegistry &registry) {
  registerCpuDialects(registry);
  registerCpuPasses();
  registerGpuDialects(registry);
  registerGpuPasses();
  registerCudaPasses();
}
