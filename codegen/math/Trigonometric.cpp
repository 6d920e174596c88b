#include "math/Expansions.h"

#include "math/Coefficients.h"

#include <limits>

using namespace dlc::codegen;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPiHigh = 0x1.921fb54442d18p1, kPiLow = 0x1.1a62633145c07p-53;

Expr operator^(Expr a, Expr b) { return a.make<mlir::arith::XOrIOp>(a.value, b.value); }

/// x = q pi/2 + high + low, |high| <= pi/4; sin and cos of the rest. Always in f64.
struct Quarter {
  Expr q; ///< i64, low two bits count
  Expr sin, cos;
};

/// `accurate`: for a result in f64; the reduction then keeps the part below the last bit.
Quarter reduce(Expr x, bool accurate) {
  Expr shifted = fma(x, 0x1.45f306dc9c883p-1, 0x1.8p52);
  Expr n = shifted - 0x1.8p52;
  Expr first = fma(n, -kPiHigh / 2, x); // exact below 2^50
  Expr r = fma(n, -kPiLow / 2, first);
  Expr z = r * r;
  if (!accurate)
    return {bitsOf(shifted), fma(r * z, polynomial(kSinF32, z), r),
            fma(z * z, polynomial(kCosF32, z), fma(z, -0.5, 1.0))};
  Expr low = fma(n, 0x1.f1976b7ed8fbcp-110, fma(n, -kPiLow / 2, first - r));
  Expr sin = r + fma(r * z, polynomial(kSinF64, z), low * fma(z, -0.5, 1.0));
  Expr one = fma(z, -0.5, 1.0);
  Expr cos = one + (fma(z, -0.5, 1 - one) + fma(z * z, polynomial(kCosF64, z), -(r * low)));
  return {bitsOf(shifted), sin, cos};
}

Expr oddQuarter(Expr q) { return equal(q & 1, 1); }

/// The value whose sign flips in the third and fourth quarter.
Expr flipSign(Expr value, Expr q) { return floatOf(bitsOf(value) ^ shiftLeft(q & 2, 62)); }

Expr finish(Expr x, Expr wide, Expr result) {
  result = select(lessThan(absolute(wide), 0x1p50), result, kNaN);
  return x.isF64() ? result : roundToF32(result);
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
  auto [q, sin, cos] = reduce(wide, x.isF64());
  Expr result = flipSign(select(oddQuarter(q), cos, sin), q);
  return finish(x, wide, select(equal(wide, 0), wide, result));
}

Expr dlc::codegen::expandCos(Expr x) {
  Expr wide = x.isF64() ? x : extend(x);
  auto [q, sin, cos] = reduce(wide, x.isF64());
  return finish(x, wide, flipSign(select(oddQuarter(q), sin, cos), q + 1));
}

Expr dlc::codegen::expandTan(Expr x) {
  Expr wide = x.isF64() ? x : extend(x);
  auto [q, sin, cos] = reduce(wide, x.isF64());
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
