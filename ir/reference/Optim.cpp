#include "dlc/ir/Optim.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

void dlc::dl::registerReferenceOptim(ReferenceRegistry &) {}
