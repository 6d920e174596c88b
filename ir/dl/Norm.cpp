#include "dlc/ir/Norm.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Norm.cpp.inc"

void DlDialect::addNormOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Norm.cpp.inc"
      >();
}

static LogicalResult verifyAxis(Operation *op, int64_t axis, RankedTensorType type) {
  if (axis >= 0 && axis < type.getRank())
    return success();
  return op->emitOpError("expects axis in [0, ") << type.getRank() << "), got " << axis;
}

LogicalResult SoftmaxOp::verify() { return verifyAxis(*this, getAxis(), getType()); }
LogicalResult LogSoftmaxOp::verify() { return verifyAxis(*this, getAxis(), getType()); }
