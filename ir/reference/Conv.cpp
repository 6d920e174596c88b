#include "dlc/ir/Conv.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

void dlc::dl::registerReferenceConv(ReferenceRegistry &) {}
