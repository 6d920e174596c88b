#include "math/MathExpr.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dlc::codegen;

static Expr splatAttr(const Expr &like, Attribute element) {
  Type type = like.value.getType();
  auto shaped = dyn_cast<VectorType>(type);
  TypedAttr attr = shaped ? TypedAttr(DenseElementsAttr::get(shaped, element)) : cast<TypedAttr>(element);
  return like.make<arith::ConstantOp>(attr);
}

Type Expr::typeOf(Type element) const {
  auto shaped = dyn_cast<VectorType>(value.getType());
  return shaped ? Type(shaped.clone(element)) : element;
}

Expr Expr::constant(double number) const {
  auto type = cast<FloatType>(elementType());
  llvm::APFloat exact(number);
  bool lost;
  exact.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return splatAttr(*this, FloatAttr::get(type, exact));
}

Expr Expr::constant(int64_t number) const {
  Type type = elementType();
  return splatAttr(*this, IntegerAttr::get(type, llvm::APInt(type.getIntOrFloatBitWidth(), number, true, true)));
}

namespace dlc::codegen {

Expr fma(Expr a, Expr b, Expr c) { return a.make<math::FmaOp>(a.value, b.value, c.value); }

Expr polynomial(ArrayRef<double> coefficients, Expr x) {
  Expr sum = x.splat(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, c);
  return sum;
}

static Expr compare(arith::CmpFPredicate predicate, Expr a, Expr b) {
  return a.make<arith::CmpFOp>(predicate, a.value, b.value);
}
Expr lessThan(Expr a, Expr b) {
  if (!a.isFloat())
    return a.make<arith::CmpIOp>(arith::CmpIPredicate::slt, a.value, b.value);
  return compare(arith::CmpFPredicate::OLT, a, b);
}
Expr equal(Expr a, Expr b) {
  if (!a.isFloat())
    return a.make<arith::CmpIOp>(arith::CmpIPredicate::eq, a.value, b.value);
  return compare(arith::CmpFPredicate::OEQ, a, b);
}
Expr notEqual(Expr a, Expr b) { return compare(arith::CmpFPredicate::UNE, a, b); }
Expr isNaN(Expr a) { return compare(arith::CmpFPredicate::UNO, a, a); }

Value any(Expr condition) {
  if (!isa<VectorType>(condition.value.getType()))
    return condition.value;
  return vector::ReductionOp::create(*condition.builder, vector::CombiningKind::OR, condition.value);
}

Expr select(Expr condition, Expr yes, Expr no) {
  return yes.make<arith::SelectOp>(condition.value, yes.value, no.value);
}

// In this operand order each is one vminps/vmaxps and the second operand, NaN included, survives a false compare.
Expr clampAbove(Expr x, double high) { return select(greaterThan(x, high), high, x); }
Expr clampBelow(Expr x, double low) { return select(lessThan(x, low), low, x); }

Expr shiftLeft(Expr a, int bits) { return a.make<arith::ShLIOp>(a.value, a.splat(bits).value); }
Expr shiftRight(Expr a, int bits) { return a.make<arith::ShRUIOp>(a.value, a.splat(bits).value); }

Expr bitsOf(Expr a) {
  Type integer = a.builder->getIntegerType(a.elementType().getIntOrFloatBitWidth());
  return a.make<arith::BitcastOp>(a.typeOf(integer), a.value);
}
Expr floatOf(Expr bits) {
  bool wide = bits.elementType().getIntOrFloatBitWidth() == 64;
  Type element = wide ? Type(bits.builder->getF64Type()) : Type(bits.builder->getF32Type());
  return bits.make<arith::BitcastOp>(bits.typeOf(element), bits.value);
}

Expr absolute(Expr a) { return a.make<math::AbsFOp>(a.value); }
Expr sqrt(Expr a) { return a.make<math::SqrtOp>(a.value); }
Expr roundEven(Expr a) { return a.make<math::RoundEvenOp>(a.value); }
Expr truncate(Expr a) { return a.make<math::TruncOp>(a.value); }
Expr copySign(Expr magnitude, Expr sign) { return magnitude.make<math::CopySignOp>(magnitude.value, sign.value); }
Expr extend(Expr a) { return a.make<arith::ExtFOp>(a.typeOf(a.builder->getF64Type()), a.value); }
Expr roundToF32(Expr a) { return a.make<arith::TruncFOp>(a.typeOf(a.builder->getF32Type()), a.value); }

FloatFormat formatOf(Expr a) { return a.isF64() ? FloatFormat{52, 1023} : FloatFormat{23, 127}; }

} // namespace dlc::codegen
