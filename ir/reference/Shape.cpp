#include "dlc/ir/Shape.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

void dlc::dl::registerReferenceShape(ReferenceRegistry &) {}
