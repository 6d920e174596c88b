#include "dlc/ir/Norm.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

void dlc::dl::registerReferenceNorm(ReferenceRegistry &) {}
