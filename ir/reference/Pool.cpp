#include "dlc/ir/Pool.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

void dlc::dl::registerReferencePool(ReferenceRegistry &) {}
