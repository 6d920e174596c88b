#include "dlc/ir/Optim.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Optim.cpp.inc"

void DlDialect::addOptimOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Optim.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Tensors of the parameter's type, scalars of rank 0.
static LogicalResult verifyUpdate(Operation *op, Type parameter, ValueRange tensors, ValueRange scalars) {
  for (Value tensor : tensors)
    if (tensor.getType() != parameter)
      return op->emitOpError("expects the gradient and states of the parameter's type ")
             << parameter << ", got " << tensor.getType();
  for (Value scalar : scalars)
    if (typeOf(scalar).getRank() != 0)
      return op->emitOpError("expects hyper-parameters and step of rank 0, got ") << scalar.getType();
  return success();
}

LogicalResult SgdOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  types.assign(adaptor.getBuffer() ? 2 : 1, adaptor.getP().getType());
  return success();
}

LogicalResult SgdOp::verify() {
  if (bool(getBuffer()) != bool(getMomentum()))
    return emitOpError("expects buffer and momentum together, got one of them");
  if (getNesterov() && !getBuffer())
    return emitOpError("expects a buffer and momentum with nesterov, got none");
  SmallVector<Value> tensors{getG()}, scalars{getLr(), getWeightDecay()};
  if (getBuffer()) {
    tensors.push_back(getBuffer());
    scalars.push_back(getMomentum());
  }
  return verifyUpdate(*this, getP().getType(), tensors, scalars);
}

template <typename Op>
static LogicalResult verifyAdam(Op op) {
  return verifyUpdate(op, op.getP().getType(), {op.getG(), op.getM(), op.getV()},
                      {op.getStep(), op.getLr(), op.getBeta1(), op.getBeta2(), op.getEps(), op.getWeightDecay()});
}

LogicalResult AdamOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.assign(3, adaptor.getP().getType());
  return success();
}
LogicalResult AdamWOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.assign(3, adaptor.getP().getType());
  return success();
}
LogicalResult AdamOp::verify() { return verifyAdam(*this); }
LogicalResult AdamWOp::verify() { return verifyAdam(*this); }
