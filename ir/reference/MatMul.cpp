#include "dlc/ir/MatMul.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

void dlc::dl::registerReferenceMatMul(ReferenceRegistry &) {}
