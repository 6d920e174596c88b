#include "math/Expansions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace dlc::codegen;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Expr powerOfTwo(Expr exponent) { return floatOf(shiftLeft(exponent + 1023, 52)); }

/// The exponent of b > 0, subnormals included, in the scale of the exponent field.
Expr exponentField(Expr b) {
  Expr tiny = lessThan(b, 0x1p-1022);
  Expr field = shiftRight(bitsOf(select(tiny, b * 0x1p54, b)), 52);
  return field - select(tiny, field.splat(54), 0);
}

/// One step of long division: r mod (b 2^s), with s so that the quotient is an exact integer. All of it is exact: the
/// remainder is a multiple of the unit of b 2^s and smaller than it.
Expr reduceOnce(Expr r, Expr b, Expr field) {
  Expr excess = shiftRight(bitsOf(r), 52) - field - 51;
  Expr shift = select(lessThan(excess, 0), 0, excess), half = shiftRight(shift, 1);
  Expr divisor = b * powerOfTwo(half) * powerOfTwo(shift - half);
  Expr next = fma(-truncate(r / divisor), divisor, r);
  return select(lessThan(next, 0), next + divisor, next); // the quotient may have rounded up
}

/// a mod b in f64 for finite a >= 0, b > 0.
Expr remainder(Expr a, Expr b) {
  ImplicitLocOpBuilder &builder = *a.builder;
  Expr field = exponentField(b);
  auto loop = scf::WhileOp::create(
      builder, TypeRange(a.value.getType()), ValueRange(a.value),
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder b2(loc, nested);
        Value notDone = arith::CmpFOp::create(b2, arith::CmpFPredicate::OGE, args[0], b.value);
        scf::ConditionOp::create(b2, any(Expr(b2, notDone)), args);
      },
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder b2(loc, nested);
        Expr next = reduceOnce(Expr(b2, args[0]), Expr(b2, b.value), Expr(b2, field.value));
        scf::YieldOp::create(b2, next.value);
      });
  return Expr(builder, loop.getResult(0));
}

/// f64 to f32 by rounding to odd: a second rounding to a shorter type then equals a single one.
Expr roundToOdd(Expr x) {
  Expr near = roundToF32(x), back = extend(near);
  Expr bits = bitsOf(near);
  Expr towards = select(lessThan(absolute(x), absolute(back)), bits - 1, bits + 1);
  Expr keep = equal(back, x) | isNaN(x) | Expr(*x.builder, equal(bits & 1, 1).value);
  return floatOf(select(keep, bits, towards));
}

/// The upper 16 of 32 bits. Of vectors by a shuffle: LLVM 22 stores a truncated vector of which a mask leaves one lane
/// as that lane of the wide one, over its neighbour.
Value upperHalf(Expr bits) {
  ImplicitLocOpBuilder &builder = *bits.builder;
  auto type = dyn_cast<VectorType>(bits.value.getType());
  if (!type)
    return arith::TruncIOp::create(builder, builder.getI16Type(), shiftRight(bits, 16).value);
  int64_t lanes = type.getNumElements();
  SmallVector<int64_t> odd;
  for (int64_t i = 0; i < lanes; ++i)
    odd.push_back(2 * i + 1);
  Value halves = vector::BitCastOp::create(builder, VectorType::get({2 * lanes}, builder.getI16Type()), bits.value);
  return vector::ShuffleOp::create(builder, halves, halves, odd);
}

} // namespace

Expr dlc::codegen::expandRem(Expr x, Expr y) {
  if (!x.isF64())
    return roundToF32(expandRem(extend(x), extend(y)));
  Expr a = absolute(x), b = absolute(y);
  Expr valid = lessThan(a, kInfinity) & greaterThan(b, 0), divide = valid & lessThan(b, kInfinity);
  Expr rest = remainder(select(divide, a, 0), select(divide, b, 1));
  return select(valid, copySign(select(divide, rest, a), x), kNaN);
}

Value dlc::codegen::expandExtend(ImplicitLocOpBuilder &builder, Value x, Type to) {
  Expr given(builder, x);
  Type i16 = given.typeOf(builder.getI16Type()), i32 = given.typeOf(builder.getI32Type());
  Type f32 = given.typeOf(builder.getF32Type());
  Value single;
  if (given.elementType().isBF16()) {
    Value bits = arith::ExtUIOp::create(builder, i32, arith::BitcastOp::create(builder, i16, x));
    single = arith::BitcastOp::create(builder, f32, shiftLeft(Expr(builder, bits), 16).value);
  } else {
    single = arith::ExtFOp::create(builder, f32, x);
  }
  return to.isF64() ? extend(Expr(builder, single)).value : single;
}

Value dlc::codegen::expandTruncate(Expr x, Type to) {
  ImplicitLocOpBuilder &builder = *x.builder;
  Expr single = x.isF64() ? roundToOdd(x) : x;
  if (!to.isBF16())
    return arith::TruncFOp::create(builder, single.typeOf(to), single.value);
  Expr bits = bitsOf(single);
  Expr rounded = bits + (shiftRight(bits, 16) & 1) + 0x7fff;
  Value half = upperHalf(select(isNaN(single), bits | 0x400000, rounded));
  return arith::BitcastOp::create(builder, single.typeOf(to), half);
}
