#include "dlc/ir/Reduce.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

void dlc::dl::registerReferenceReduce(ReferenceRegistry &registry) {}
