#include "dlc/codegen/Register.h"

#include "targets/cpu/Lower.h"

void dlc::codegen::registerPasses(mlir::DialectRegistry &registry) {
  registerCpuDialects(registry);
  registerCpuPasses();
}
