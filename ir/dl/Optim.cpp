#include "dlc/ir/Optim.h"

#include "AxisBuilder.h"
#include "dlc/ir/Math.h"

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
LogicalResult RmsPropOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.assign(2 + bool(adaptor.getAverage()) + bool(adaptor.getBuffer()), adaptor.getP().getType());
  return success();
}

LogicalResult RmsPropOp::verify() {
  if (bool(getBuffer()) != bool(getMomentum()))
    return emitOpError("expects buffer and momentum together, got one of them");
  SmallVector<Value> tensors{getG(), getSquare()}, scalars{getLr(), getAlpha(), getEps(), getWeightDecay()};
  if (getAverage())
    tensors.push_back(getAverage());
  if (getBuffer()) {
    tensors.push_back(getBuffer());
    scalars.push_back(getMomentum());
  }
  return verifyUpdate(*this, getP().getType(), tensors, scalars);
}

LogicalResult AdamOp::verify() { return verifyAdam(*this); }
LogicalResult AdamWOp::verify() { return verifyAdam(*this); }

namespace {

/// Arithmetic on tensors of the parameter's type, and on f64 scalars that enter it rounded once.
class UpdateBuilder : public TensorBuilder {
public:
  UpdateBuilder(OpBuilder &builder, Operation *op)
      : TensorBuilder(builder, op->getLoc()), parameter(typeOf(op->getOperand(0))) {}

  /// A scalar in the parameter's type and shape.
  Value spread(Value scalar) {
    Value rounded = cast(scalar, parameter.getElementType());
    return getBuilder().createOrFold<BroadcastOp>(getLoc(), parameter, rounded, ArrayRef<int64_t>{});
  }
  /// 1 - beta^step
  Value biasCorrection(Value beta, Value step) {
    Value exponent = cast(step, getBuilder().getF64Type());
    return sub(1, PowOp::create(getBuilder(), getLoc(), beta, exponent));
  }

private:
  RankedTensorType parameter;
};

} // namespace

SmallVector<Value> SgdOp::decompose(OpBuilder &b) {
  UpdateBuilder t(b, *this);
  Value p = getP(), d = t.add(getG(), t.mul(t.spread(getWeightDecay()), p));
  SmallVector<Value> results(1);
  if (getBuffer()) {
    Value momentum = t.spread(getMomentum());
    Value buffer = t.add(t.mul(momentum, getBuffer()), d);
    results.push_back(buffer);
    d = getNesterov() ? t.add(d, t.mul(momentum, buffer)) : buffer;
  }
  results[0] = t.sub(p, t.mul(t.spread(getLr()), d));
  return results;
}

template <typename Op>
static SmallVector<Value> decomposeAdam(Op op, OpBuilder &b, bool decoupled) {
  UpdateBuilder t(b, op);
  Value p = op.getP(), d = op.getG(), lr = op.getLr(), decay = op.getWeightDecay();
  if (decoupled)
    p = t.mul(p, t.spread(t.sub(1, t.mul(lr, decay))));
  else
    d = t.add(d, t.mul(t.spread(decay), p));
  Value m = t.add(op.getM(), t.mul(t.spread(t.sub(1, op.getBeta1())), t.sub(d, op.getM())));
  Value v = t.add(t.mul(t.spread(op.getBeta2()), op.getV()), t.mul(t.mul(t.spread(t.sub(1, op.getBeta2())), d), d));
  Value size = t.spread(t.div(lr, t.biasCorrection(op.getBeta1(), op.getStep())));
  Value root = t.spread(t.sqrt(t.biasCorrection(op.getBeta2(), op.getStep())));
  Value denominator = t.add(t.div(t.sqrt(v), root), t.spread(op.getEps()));
  return {t.sub(p, t.div(t.mul(size, m), denominator)), m, v};
}

SmallVector<Value> AdamOp::decompose(OpBuilder &b) { return decomposeAdam(*this, b, false); }
SmallVector<Value> AdamWOp::decompose(OpBuilder &b) { return decomposeAdam(*this, b, true); }

SmallVector<Value> RmsPropOp::decompose(OpBuilder &b) {
  UpdateBuilder t(b, *this);
  Value p = getP(), d = t.add(getG(), t.mul(t.spread(getWeightDecay()), p));
  Value other = t.spread(t.sub(1, getAlpha()));
  Value square = t.add(t.mul(t.spread(getAlpha()), getSquare()), t.mul(t.mul(other, d), d));
  SmallVector<Value> results{Value(), square};
  Value variance = square;
  if (getAverage()) {
    Value average = t.add(getAverage(), t.mul(other, t.sub(d, getAverage())));
    results.push_back(average);
    Value difference = t.sub(square, t.mul(average, average));
    variance = t.maximum(difference, t.splat(0, difference)); // rounding can take it below 0, which has no root
  }
  Value step = t.div(d, t.add(t.sqrt(variance), t.spread(getEps())));
  if (getBuffer()) {
    step = t.add(t.mul(t.spread(getMomentum()), getBuffer()), step);
    results.push_back(step);
  }
  results[0] = t.sub(p, t.mul(t.spread(getLr()), step));
  return results;
}
