#include "math/Expansions.h"

#include "math/Coefficients.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace dlc::codegen;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPiHigh = 0x1.921fb54442d18p1, kPiLow = 0x1.1a62633145c07p-53;

Expr operator^(Expr a, Expr b) { return a.make<arith::XOrIOp>(a.value, b.value); }

/// x = q pi/2 + r + low with |r| <= pi/4, in f64.
struct Angle {
  Expr q; ///< i64, of which the low two bits count
  Expr r, low;
};

/// For |x| < 2^50: the product of the integer and the first part of pi/2 is exact in the fma.
Angle reduce(Expr x) {
  Expr shifted = fma(x, 0x1.45f306dc9c883p-1, 0x1.8p52);
  Expr n = shifted - 0x1.8p52;
  Expr first = fma(n, -kPiHigh / 2, x);
  // The next part may cancel most of the rest: what its subtraction loses is added to the part below (Knuth's sum).
  Expr second = n * (-kPiLow / 2), r = first + second, part = r - first;
  Expr lost = (first - (r - part)) + (second - part);
  Expr low = fma(n, 0x1.f1976b7ed8fbcp-110, lost + fma(n, -kPiLow / 2, -second));
  return {bitsOf(shifted), r, low};
}

/// For larger f32 x: x (2/pi) modulo 4, piece by piece, every product and every reduction exact (Payne and Hanek's
/// idea).
Angle reduceLarge(Expr x) {
  Expr sum = x.splat(0), lost = sum;
  for (double piece : kTwoOverPi) {
    Expr product = x * piece;
    Expr term = fma(roundEven(product * 0.25), -4, product);
    Expr next = sum + term, part = next - sum;
    lost = lost + ((sum - (next - part)) + (term - part));
    sum = next;
  }
  Expr n = roundEven(sum);
  return {bitsOf(n + 0x1.8p52), ((sum - n) + lost) * (kPiHigh / 2), x.splat(0)};
}

/// `reduce`, or `reduceLarge` for the lanes that need it, when there are any.
Angle reduceF32(Expr x) {
  ImplicitLocOpBuilder &builder = *x.builder;
  Expr isLarge = lessThan(x.splat(0x1p50), absolute(x));
  Angle small = reduce(x);
  auto choose = scf::IfOp::create(
      builder, any(isLarge),
      [&](OpBuilder &nested, Location loc) {
        ImplicitLocOpBuilder inner(loc, nested);
        Angle large = reduceLarge(Expr(inner, x.value));
        Expr condition(inner, isLarge.value);
        Expr q = select(condition, large.q, Expr(inner, small.q.value));
        Expr r = select(condition, large.r, Expr(inner, small.r.value));
        scf::YieldOp::create(inner, ValueRange{q.value, r.value});
      },
      [&](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(nested, loc, ValueRange{small.q.value, small.r.value});
      });
  return {Expr(builder, choose.getResult(0)), Expr(builder, choose.getResult(1)), small.low};
}

/// sin and cos of an angle without its quarters.
struct SinCos {
  Expr q, sin, cos;
};

/// `accurate`: for a result in f64, where what lies below the last bit of r counts.
SinCos sinCos(Expr x, bool accurate) {
  auto [q, r, low] = accurate ? reduce(x) : reduceF32(x);
  Expr z = r * r, half = fma(z, -0.5, 1.0);
  if (!accurate)
    return {q, fma(r * z, polynomial(kSinF32, z), r), fma(z * z, polynomial(kCosF32, z), half)};
  Expr sin = r + fma(r * z, polynomial(kSinF64, z), low * half);
  Expr cos = half + (fma(z, -0.5, 1 - half) + fma(z * z, polynomial(kCosF64, z), -(r * low)));
  return {q, sin, cos};
}

Expr oddQuarter(Expr q) { return equal(q & 1, 1); }

/// The value whose sign flips in the third and fourth quarter.
Expr flipSign(Expr value, Expr q) { return floatOf(bitsOf(value) ^ shiftLeft(q & 2, 62)); }

Expr finish(Expr x, Expr wide, Expr result) {
  return x.isF64() ? select(lessThan(absolute(wide), 0x1p50), result, kNaN) : roundToF32(result);
}

/// atan(a / b) for a, b >= 0 (not both 0 or infinite), in f64.
Expr arctangent(Expr a, Expr b, bool accurate) {
  // With w = tan(pi/4) or tan(pi/2): atan(t) = atan(w) + atan((t - w) / (1 + t w)), so that |argument| <= tan(pi/8).
  Expr large = lessThan(b * 2.414213562373095, a), middle = lessThan(b * 0.4142135623730951, a);
  Expr numerator = select(large, -b, select(middle, a - b, a));
  Expr denominator = select(large, a, select(middle, a + b, b));
  Expr t = numerator / denominator, z = t * t;
  Expr part = t * z * (accurate ? polynomial(kAtanF64, z) : polynomial(kAtanF32, z));
  auto base = [&](double quarter) { return select(large, a.splat(2 * quarter), select(middle, quarter, a.splat(0))); };
  return base(kPiHigh / 4) + (t + (part + base(kPiLow / 4)));
}

} // namespace

Expr dlc::codegen::expandSin(Expr x) {
  Expr wide = x.isF64() ? x : extend(x);
  auto [q, sin, cos] = sinCos(wide, x.isF64());
  Expr result = flipSign(select(oddQuarter(q), cos, sin), q);
  return finish(x, wide, select(equal(wide, 0), wide, result));
}

Expr dlc::codegen::expandCos(Expr x) {
  Expr wide = x.isF64() ? x : extend(x);
  auto [q, sin, cos] = sinCos(wide, x.isF64());
  return finish(x, wide, flipSign(select(oddQuarter(q), sin, cos), q + 1));
}

Expr dlc::codegen::expandTan(Expr x) {
  Expr wide = x.isF64() ? x : extend(x);
  auto [q, sin, cos] = sinCos(wide, x.isF64());
  Expr odd = oddQuarter(q);
  Expr result = select(odd, -cos, sin) / select(odd, sin, cos);
  return finish(x, wide, select(equal(wide, 0), wide, result));
}

Expr dlc::codegen::expandAtan(Expr x) {
  Expr wide = x.isF64() ? x : extend(x);
  Expr result = copySign(arctangent(absolute(wide), wide.splat(1), x.isF64()), wide);
  return x.isF64() ? result : roundToF32(result);
}

Expr dlc::codegen::expandAtan2(Expr y, Expr x) {
  bool accurate = x.isF64();
  if (!accurate)
    return roundToF32(expandAtan2(extend(y), extend(x)));
  Expr a = absolute(y), b = absolute(x);
  // Far from overflow of a + b.
  Expr huge = greaterThan(a, 0x1p1000) | greaterThan(b, 0x1p1000);
  Expr bothInfinite = equal(a, kInfinity) & equal(b, kInfinity), bothZero = equal(a, 0) & equal(b, 0);
  auto tame = [&](Expr v) { return select(bothInfinite, 1, select(huge, v * 0x1p-4, v)); };
  Expr angle = arctangent(tame(a), select(bothZero, 1, tame(b)), accurate);
  Expr left = lessThan(bitsOf(x), 0);
  angle = select(left, (kPiHigh - angle) + kPiLow, angle);
  return copySign(angle, y);
}
