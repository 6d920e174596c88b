#include "dlc/ir/ScalarBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace dlc::dl;

Type ScalarBuilder::shaped(Type element) const { return width ? VectorType::get({width}, element) : element; }

static Value splatConstant(OpBuilder &builder, Location location, Type type, TypedAttr element) {
  TypedAttr value = element;
  if (auto vector = dyn_cast<VectorType>(type))
    value = cast<TypedAttr>(Attribute(DenseElementsAttr::get(vector, Attribute(element))));
  return arith::ConstantOp::create(builder, location, value);
}

Value ScalarBuilder::constant(double value, Type element) {
  TypedAttr attribute = isa<FloatType>(element) ? TypedAttr(builder.getFloatAttr(element, value))
                                                : TypedAttr(builder.getIntegerAttr(element, int64_t(value)));
  return splatConstant(builder, location, shaped(element), attribute);
}

Value ScalarBuilder::constant(int64_t value, Type element) {
  TypedAttr attribute = isa<FloatType>(element) ? TypedAttr(builder.getFloatAttr(element, double(value)))
                                                : TypedAttr(builder.getIntegerAttr(element, value));
  return splatConstant(builder, location, shaped(element), attribute);
}

Value ScalarBuilder::boolean(bool value) {
  return splatConstant(builder, location, shaped(builder.getI1Type()), builder.getBoolAttr(value));
}

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

#define DLC_ARITH(Name, FloatOp, IntOp)                                                                                \
  Value ScalarBuilder::Name(Value a, Value b) {                                                                        \
    return isFloat(a) ? Value(FloatOp::create(builder, location, a, b))                                                \
                      : Value(IntOp::create(builder, location, a, b));                                                 \
  }
DLC_ARITH(add, arith::AddFOp, arith::AddIOp)
DLC_ARITH(sub, arith::SubFOp, arith::SubIOp)
DLC_ARITH(mul, arith::MulFOp, arith::MulIOp)
#undef DLC_ARITH

#define DLC_COMPARE(Name, FloatPredicate, IntPredicate)                                                                \
  Value ScalarBuilder::Name(Value a, Value b) {                                                                        \
    return isFloat(a) ? Value(arith::CmpFOp::create(builder, location, arith::CmpFPredicate::FloatPredicate, a, b))    \
                      : Value(arith::CmpIOp::create(builder, location, arith::CmpIPredicate::IntPredicate, a, b));     \
  }
DLC_COMPARE(eq, OEQ, eq)
DLC_COMPARE(ne, UNE, ne)
DLC_COMPARE(lt, OLT, slt)
DLC_COMPARE(le, OLE, sle)
DLC_COMPARE(gt, OGT, sgt)
DLC_COMPARE(ge, OGE, sge)
#undef DLC_COMPARE

#define DLC_BINARY(Name, Op)                                                                                           \
  Value ScalarBuilder::Name(Value a, Value b) { return Op::create(builder, location, a, b); }
DLC_BINARY(div, arith::DivFOp)
DLC_BINARY(bitAnd, arith::AndIOp)
DLC_BINARY(bitOr, arith::OrIOp)
DLC_BINARY(bitXor, arith::XOrIOp)
DLC_BINARY(shl, arith::ShLIOp)
DLC_BINARY(shrSigned, arith::ShRSIOp)
DLC_BINARY(shrUnsigned, arith::ShRUIOp)
DLC_BINARY(pow, math::PowFOp)
DLC_BINARY(copySign, math::CopySignOp)
#undef DLC_BINARY

#define DLC_UNARY(Name, Op)                                                                                            \
  Value ScalarBuilder::Name(Value a) { return Op::create(builder, location, a); }
DLC_UNARY(exp, math::ExpOp)
DLC_UNARY(expm1, math::ExpM1Op)
DLC_UNARY(log, math::LogOp)
DLC_UNARY(log1p, math::Log1pOp)
DLC_UNARY(sqrt, math::SqrtOp)
DLC_UNARY(tanh, math::TanhOp)
DLC_UNARY(erf, math::ErfOp)
DLC_UNARY(sin, math::SinOp)
DLC_UNARY(cos, math::CosOp)
DLC_UNARY(floor, math::FloorOp)
DLC_UNARY(ceil, math::CeilOp)
DLC_UNARY(roundEven, math::RoundEvenOp)
#undef DLC_UNARY

Value ScalarBuilder::fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, location, a, b, c); }

Value ScalarBuilder::neg(Value a) {
  if (isFloat(a))
    return arith::NegFOp::create(builder, location, a);
  return sub(constant(int64_t(0), getElementTypeOrSelf(a.getType())), a);
}

Value ScalarBuilder::abs(Value a) {
  if (isFloat(a))
    return math::AbsFOp::create(builder, location, a);
  return select(lt(a, constant(int64_t(0), getElementTypeOrSelf(a.getType()))), neg(a), a);
}

Value ScalarBuilder::isNan(Value a) {
  return arith::CmpFOp::create(builder, location, arith::CmpFPredicate::UNO, a, a);
}

Value ScalarBuilder::maximum(Value a, Value b) {
  Value larger = select(gt(a, b), a, b);
  return isFloat(a) ? select(isNan(a), a, larger) : larger;
}

Value ScalarBuilder::minimum(Value a, Value b) {
  Value smaller = select(lt(a, b), a, b);
  return isFloat(a) ? select(isNan(a), a, smaller) : smaller;
}

Value ScalarBuilder::select(Value condition, Value a, Value b) {
  auto narrow = dyn_cast<FloatType>(getElementTypeOrSelf(a.getType()));
  if (narrow && narrow.getWidth() == 16) { // as bits: LLVM would go by f32, and call a library
    Type bits = shaped(builder.getI16Type());
    a = arith::BitcastOp::create(builder, location, bits, a);
    b = arith::BitcastOp::create(builder, location, bits, b);
    Value chosen = arith::SelectOp::create(builder, location, condition, a, b);
    return arith::BitcastOp::create(builder, location, shaped(narrow), chosen);
  }
  return arith::SelectOp::create(builder, location, condition, a, b);
}

// LLVM's sdiv and srem are undefined for a zero divisor and for the most negative value by -1, so the divisor is made
// harmless first and the result chosen afterwards.
Value ScalarBuilder::divSigned(Value a, Value b) {
  Type element = getElementTypeOrSelf(a.getType());
  Value zero = constant(int64_t(0), element), one = constant(int64_t(1), element);
  Value byZero = eq(b, zero), byMinusOne = eq(b, constant(int64_t(-1), element));
  Value safe = select(bitOr(byZero, byMinusOne), one, b);
  Value quotient = arith::DivSIOp::create(builder, location, a, safe);
  return select(byZero, zero, select(byMinusOne, neg(a), quotient));
}

Value ScalarBuilder::remSigned(Value a, Value b) {
  Type element = getElementTypeOrSelf(a.getType());
  Value zero = constant(int64_t(0), element), one = constant(int64_t(1), element);
  Value harmless = bitOr(eq(b, zero), eq(b, constant(int64_t(-1), element)));
  Value safe = select(harmless, one, b);
  return select(harmless, zero, arith::RemSIOp::create(builder, location, a, safe));
}

Value ScalarBuilder::floorDivSigned(Value a, Value b) {
  Type element = getElementTypeOrSelf(a.getType());
  Value zero = constant(int64_t(0), element);
  Value quotient = divSigned(a, b), remainder = sub(a, mul(quotient, b));
  Value above = bitAnd(ne(remainder, zero), bitXor(lt(remainder, zero), lt(b, zero)));
  Value floored = select(above, sub(quotient, constant(int64_t(1), element)), quotient);
  return select(eq(b, zero), zero, floored);
}

// An integer as f64, to be rounded further. What lies below the last of 53 digits goes into that one, so that it counts
// where it breaks a tie.
static Value doubleOf(ScalarBuilder &b, Value a) {
  Type element = getElementTypeOrSelf(a.getType()), f64 = b.getBuilder().getF64Type();
  if (element.getIntOrFloatBitWidth() < 64)
    return b.cast(a, f64);
  constexpr int64_t kBelow = (1 << 11) - 1;
  Value zero = b.constant(int64_t(0), element), below = b.constant(kBelow, element);
  Value isSmall = b.eq(b.shrSigned(b.abs(a), b.constant(int64_t(53), element)), zero);
  Value last = b.select(b.eq(b.bitAnd(a, below), zero), zero, b.constant(kBelow + 1, element));
  Value sticky = b.bitOr(b.bitAnd(a, b.constant(~kBelow, element)), last);
  return b.cast(b.select(isSmall, a, sticky), f64);
}

Value ScalarBuilder::cast(Value a, Type element) {
  Type from = getElementTypeOrSelf(a.getType()), to = shaped(element);
  if (from == element)
    return a;
  if (auto narrow = dyn_cast<FloatType>(from);
      narrow && narrow.getWidth() == 16) // exact, and arithmetic is that of f32
    return cast(arith::ExtFOp::create(builder, location, shaped(builder.getF32Type()), a), element);
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(element);
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = element.getIntOrFloatBitWidth();
  if (element.isInteger(1))
    return fromFloat ? ne(a, constant(0.0, from)) : ne(a, constant(int64_t(0), from));
  if (fromFloat && toFloat)
    return fromBits < toBits ? Value(arith::ExtFOp::create(builder, location, to, a))
                             : Value(arith::TruncFOp::create(builder, location, to, a));
  if (toFloat && toBits == 16) // rounds once: large integers by way of f32 would twice
    return cast(fromBits >= 32 ? doubleOf(*this, a) : cast(a, builder.getF32Type()), element);
  if (toFloat)
    return from.isInteger(1) ? Value(arith::UIToFPOp::create(builder, location, to, a))
                             : Value(arith::SIToFPOp::create(builder, location, to, a));
  if (!fromFloat) {
    if (fromBits > toBits)
      return arith::TruncIOp::create(builder, location, to, a);
    return from.isInteger(1) ? Value(arith::ExtUIOp::create(builder, location, to, a))
                             : Value(arith::ExtSIOp::create(builder, location, to, a));
  }
  // Float to integer: fptosi is poison out of range, so clamp first. 2^(n-1) is a float, 2^(n-1) - 1 may not be.
  double limit = std::ldexp(1.0, int(toBits) - 1);
  Value low = constant(-limit, from), high = constant(limit, from);
  Value tooLow = lt(a, low), tooHigh = ge(a, high);
  Value outside = bitOr(bitOr(tooLow, tooHigh), isNan(a));
  Value inside = select(outside, constant(0.0, from), a);
  Value converted = arith::FPToSIOp::create(builder, location, to, inside);
  int64_t most = toBits == 64 ? INT64_MAX : (int64_t(1) << (toBits - 1)) - 1;
  return select(tooHigh, constant(most, element), select(tooLow, constant(-most - 1, element), converted));
}
