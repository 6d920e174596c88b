#include "dlc/ir/Activation.h"

#include <limits>

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Activation.cpp.inc"

void DlDialect::addActivationOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Activation.cpp.inc"
      >();
}

static constexpr double kInverseSqrt2 = 0.70710678118654752440;
static constexpr double kInverseSqrt2Pi = 0.39894228040143267794;
static constexpr double kSqrt2OverPi = 0.79788456080286535588;
static constexpr double kCubic = 0.044715;

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

Value ReluOp::emitScalar(ScalarBuilder &b, ValueRange args) {
  Value zero = b.constant(0.0, elementOf(args[0]));
  return b.select(b.le(args[0], zero), zero, args[0]);
}
LogicalResult ReluOp::buildAdjoint(AdjointBuilder &b) { // y <= 0 where x <= 0, so x need not be kept; NaN passes
  TensorBuilder t = b.tensors();
  b.addTo(0, b.route(t.logicalNot(t.le(getY(), t.splat(0.0, getY()))), b.cotangent()));
  return success();
}

// exp(-|x|) never overflows: 1 / (1 + e) for x >= 0, e / (1 + e) below, both to a relative error of a few ulp.
static Value sigmoid(ScalarBuilder &b, Value x) {
  Value zero = b.constant(0.0, elementOf(x)), one = b.constant(1.0, elementOf(x));
  Value e = b.exp(b.neg(b.abs(x)));
  return b.div(b.select(b.lt(x, zero), e, one), b.add(one, e));
}

Value SigmoidOp::emitScalar(ScalarBuilder &b, ValueRange args) { return sigmoid(b, args[0]); }
unsigned SigmoidOp::getScalarCost() { return 23; }
LogicalResult SigmoidOp::buildAdjoint(AdjointBuilder &b) {
  TensorBuilder t = b.tensors();
  b.addTo(0, b.scale(b.cotangent(), t.mul(getY(), t.sub(1.0, getY()))));
  return success();
}

Value SiluOp::emitScalar(ScalarBuilder &b, ValueRange args) { return b.mul(args[0], sigmoid(b, args[0])); }
unsigned SiluOp::getScalarCost() { return 24; }
LogicalResult SiluOp::buildAdjoint(AdjointBuilder &b) { // s (1 + x (1 - s))
  TensorBuilder t = b.tensors();
  Value s = t.sigmoid(getX());
  b.addTo(0, b.scale(b.cotangent(), t.mul(s, t.add(t.mul(getX(), t.sub(1.0, s)), 1.0))));
  return success();
}

Value SoftplusOp::emitScalar(ScalarBuilder &b, ValueRange args) { // max(x, 0) + log1p(exp(-|x|))
  Value x = args[0], zero = b.constant(0.0, elementOf(x));
  return b.add(b.select(b.gt(x, zero), x, zero), b.log1p(b.exp(b.neg(b.abs(x)))));
}
unsigned SoftplusOp::getScalarCost() { return 38; }
LogicalResult SoftplusOp::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, b.scale(b.cotangent(), b.tensors().sigmoid(getX())));
  return success();
}

Value GeluOp::emitScalar(ScalarBuilder &b, ValueRange args) {
  Value x = args[0];
  Type element = elementOf(x);
  Value one = b.constant(1.0, element), half = b.mul(b.constant(0.5, element), x);
  if (getApproximate() == GeluApproximation::None)
    return b.mul(half, b.add(one, b.erf(b.mul(x, b.constant(kInverseSqrt2, element)))));
  Value cubic = b.mul(b.constant(kCubic, element), b.mul(x, b.mul(x, x)));
  return b.mul(half, b.add(one, b.tanh(b.mul(b.constant(kSqrt2OverPi, element), b.add(x, cubic)))));
}
unsigned GeluOp::getScalarCost() { return 28; }

// Beyond the bounds the second term is exactly 0 in f64; limiting x there keeps 0 * inf away.
LogicalResult GeluOp::buildAdjoint(AdjointBuilder &b) {
  TensorBuilder t = b.tensors();
  bool exact = getApproximate() == GeluApproximation::None;
  FloatAttr bound = b.getBuilder().getF64FloatAttr(exact ? 40.0 : 10.0);
  FloatAttr negative = b.getBuilder().getF64FloatAttr(-bound.getValueAsDouble());
  Value x = ClampOp::create(b.getBuilder(), b.getLoc(), getX().getType(), getX(), negative, bound);
  Value square = t.mul(x, x), inner, slope;
  if (exact) { // Φ(x) + x φ(x)
    inner = t.erf(t.mul(x, kInverseSqrt2));
    slope = t.mul(t.exp(t.mul(square, -0.5)), kInverseSqrt2Pi);
  } else { // (1 + tanh u)/2 + x/2 (1 - tanh² u) u'
    inner = t.tanh(t.mul(t.mul(x, t.add(t.mul(square, kCubic), 1.0)), kSqrt2OverPi));
    Value derivative = t.mul(t.add(t.mul(square, 3 * kCubic), 1.0), kSqrt2OverPi);
    slope = t.mul(t.mul(t.sub(1.0, t.mul(inner, inner)), derivative), 0.5);
  }
  b.addTo(0, b.scale(b.cotangent(), t.add(t.mul(t.add(inner, 1.0), 0.5), t.mul(x, slope))));
  return success();
}

LogicalResult ClampOp::verify() {
  double infinity = std::numeric_limits<double>::infinity();
  double lower = getMin() ? getMin()->convertToDouble() : -infinity;
  double upper = getMax() ? getMax()->convertToDouble() : infinity;
  if (!(lower <= upper))
    return emitOpError("expects min <= max, got ") << lower << " and " << upper;
  return success();
}

Value ClampOp::emitScalar(ScalarBuilder &b, ValueRange args) {
  Value x = args[0];
  if (getMin()) {
    Value bound = b.constant(getMin()->convertToDouble(), elementOf(x));
    x = b.select(b.lt(x, bound), bound, x);
  }
  if (getMax()) {
    Value bound = b.constant(getMax()->convertToDouble(), elementOf(x));
    x = b.select(b.gt(x, bound), bound, x);
  }
  return x;
}

LogicalResult ClampOp::buildAdjoint(AdjointBuilder &b) {
  TensorBuilder t = b.tensors();
  Cotangent g = b.cotangent();
  if (getMin())
    g = b.route(t.logicalNot(t.lt(getX(), t.splat(getMin()->convertToDouble(), getX()))), g);
  if (getMax())
    g = b.route(t.logicalNot(t.gt(getX(), t.splat(getMax()->convertToDouble(), getX()))), g);
  b.addTo(0, g);
  return success();
}
