#include "dlc/ir/Norm.h"

#include "AxisBuilder.h"

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

/// x - max along the axis.
static Value shifted(AxisBuilder &over, Value x) { return over.sub(x, over.spread(over.max(x))); }

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &b) {
  if (getType().getNumElements() == 0)
    return {getX()};
  AxisBuilder over(b, getLoc(), getType(), int64_t(getAxis()));
  Value e = over.exp(shifted(over, getX()));
  return {over.div(e, over.spread(over.sum(e)))};
}

bool SoftmaxOp::keepWhole(Stage stage) { return stage == Stage::Autodiff; }

LogicalResult SoftmaxOp::buildAdjoint(AdjointBuilder &b) {
  if (!b.cotangent())
    return success();
  AxisBuilder over(b.getBuilder(), b.getLoc(), getType(), int64_t(getAxis()));
  Value g = b.cotangent().value;
  b.addTo(0, over.mul(getY(), over.sub(g, over.spread(over.sum(over.mul(g, getY()))))));
  return success();
}

SmallVector<Value> LogSoftmaxOp::decompose(OpBuilder &b) {
  if (getType().getNumElements() == 0)
    return {getX()};
  AxisBuilder over(b, getLoc(), getType(), int64_t(getAxis()));
  Value s = shifted(over, getX());
  return {over.sub(s, over.spread(over.log(over.sum(over.exp(s)))))};
}

bool LogSoftmaxOp::keepWhole(Stage stage) { return stage == Stage::Autodiff; }

LogicalResult LogSoftmaxOp::buildAdjoint(AdjointBuilder &b) {
  if (!b.cotangent())
    return success();
  AxisBuilder over(b.getBuilder(), b.getLoc(), getType(), int64_t(getAxis()));
  Value g = b.cotangent().value;
  b.addTo(0, over.sub(g, over.mul(over.exp(getY()), over.spread(over.sum(g)))));
  return success();
}
