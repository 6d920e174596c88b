#include "dlc/ir/Math.h"

#include <numbers>

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Math.cpp.inc"

void DlDialect::addMathOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Math.cpp.inc"
      >();
}

Value ExpOp::emitScalar(ScalarBuilder &b, ValueRange args) { return b.exp(args[0]); }
unsigned ExpOp::getScalarCost() { return 15; }
LogicalResult ExpOp::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, b.scale(b.cotangent(), getY()));
  return success();
}

Value Expm1Op::emitScalar(ScalarBuilder &b, ValueRange args) { return b.expm1(args[0]); }
unsigned Expm1Op::getScalarCost() { return 20; }
LogicalResult Expm1Op::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, b.scale(b.cotangent(), b.tensors().add(getY(), 1.0)));
  return success();
}

Value LogOp::emitScalar(ScalarBuilder &b, ValueRange args) { return b.log(args[0]); }
unsigned LogOp::getScalarCost() { return 15; }
LogicalResult LogOp::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, b.divide(b.cotangent(), getX()));
  return success();
}

Value Log1pOp::emitScalar(ScalarBuilder &b, ValueRange args) { return b.log1p(args[0]); }
unsigned Log1pOp::getScalarCost() { return 20; }
LogicalResult Log1pOp::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, b.divide(b.cotangent(), b.tensors().add(getX(), 1.0)));
  return success();
}

Value SqrtOp::emitScalar(ScalarBuilder &b, ValueRange args) { return b.sqrt(args[0]); }
unsigned SqrtOp::getScalarCost() { return 6; }
LogicalResult SqrtOp::buildAdjoint(AdjointBuilder &b) { // dy/dx = 1 / (2 y)
  b.addTo(0, b.divide(b.cotangent(), b.tensors().mul(getY(), 2.0)));
  return success();
}

Value RsqrtOp::emitScalar(ScalarBuilder &b, ValueRange args) {
  return b.div(b.constant(1.0, getElementTypeOrSelf(args[0].getType())), b.sqrt(args[0]));
}
unsigned RsqrtOp::getScalarCost() { return 11; }
LogicalResult RsqrtOp::buildAdjoint(AdjointBuilder &b) { // dy/dx = -y^3 / 2
  TensorBuilder t = b.tensors();
  b.addTo(0, b.scale(b.cotangent(), t.mul(t.mul(t.mul(getY(), getY()), getY()), -0.5)));
  return success();
}

Value SinOp::emitScalar(ScalarBuilder &b, ValueRange args) { return b.sin(args[0]); }
unsigned SinOp::getScalarCost() { return 20; }
LogicalResult SinOp::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, b.scale(b.cotangent(), CosOp::create(b.getBuilder(), b.getLoc(), getX())));
  return success();
}

Value CosOp::emitScalar(ScalarBuilder &b, ValueRange args) { return b.cos(args[0]); }
unsigned CosOp::getScalarCost() { return 20; }
LogicalResult CosOp::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, b.negate(b.scale(b.cotangent(), SinOp::create(b.getBuilder(), b.getLoc(), getX()))));
  return success();
}

Value TanhOp::emitScalar(ScalarBuilder &b, ValueRange args) { return b.tanh(args[0]); }
unsigned TanhOp::getScalarCost() { return 20; }
LogicalResult TanhOp::buildAdjoint(AdjointBuilder &b) {
  TensorBuilder t = b.tensors();
  b.addTo(0, b.scale(b.cotangent(), t.sub(1.0, t.mul(getY(), getY()))));
  return success();
}

Value ErfOp::emitScalar(ScalarBuilder &b, ValueRange args) { return b.erf(args[0]); }
unsigned ErfOp::getScalarCost() { return 20; }
LogicalResult ErfOp::buildAdjoint(AdjointBuilder &b) { // dy/dx = 2/√π exp(-x²)
  TensorBuilder t = b.tensors();
  Value density = t.mul(t.exp(t.neg(t.mul(getX(), getX()))), 2.0 * std::numbers::inv_sqrtpi);
  b.addTo(0, b.scale(b.cotangent(), density));
  return success();
}

Value PowOp::emitScalar(ScalarBuilder &b, ValueRange args) { return b.pow(args[0], args[1]); }
unsigned PowOp::getScalarCost() { return 40; }
LogicalResult PowOp::buildAdjoint(AdjointBuilder &b) {
  TensorBuilder t = b.tensors();
  Value zero = t.splat(0.0, getA());
  if (b.needs(0)) { // b a^(b-1), and 0 for b = 0 even at a = 0
    Value slope = t.mul(getB(), PowOp::create(b.getBuilder(), b.getLoc(), getA(), t.add(getB(), -1.0)));
    b.addTo(0, b.scale(b.cotangent(), t.select(t.eq(getB(), zero), zero, slope)));
  }
  if (b.needs(1)) { // y log a, and its limit 0 at a = 0, b >= 0
    Value atOrigin = t.logicalAnd(t.eq(getA(), zero), t.ge(getB(), zero));
    b.addTo(1, b.scale(b.cotangent(), t.select(atOrigin, zero, t.mul(getY(), t.log(getA())))));
  }
  return success();
}
