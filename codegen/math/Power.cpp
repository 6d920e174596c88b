#include "math/Expansions.h"

#include "math/Coefficients.h"

#include <limits>

using namespace dlc::codegen;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// An unevaluated sum of two doubles, about 106 bits.
struct Double2 {
  Expr hi, lo;
};

/// a + b, |a| >= |b| or a = 0.
Double2 fastSum(Expr a, Expr b) {
  Expr sum = a + b;
  return {sum, (a - sum) + b};
}
Double2 product(Expr a, Expr b) {
  Expr p = a * b;
  return {p, fma(a, b, -p)};
}
Double2 product(Double2 a, Double2 b) {
  Double2 p = product(a.hi, b.hi);
  return {p.hi, p.lo + fma(a.hi, b.lo, a.lo * b.hi)};
}

/// The parts of a positive double, subnormals included: a = 2^k m, m in [sqrt(1/2), sqrt(2)).
struct Decomposed {
  Expr m, k;
};
Decomposed decompose(Expr a) {
  Expr tiny = lessThan(a, 0x1p-1022);
  constexpr int64_t rootHalf = 0x3fe6a09e667f3bcd;
  Expr bits = bitsOf(select(tiny, a * 0x1p54, a)) - rootHalf;
  Expr biased = shiftRight(bits + (int64_t(1023) << 52), 52);
  Expr k = floatOf(biased | (int64_t(1023 + 52) << 52)) - select(tiny, a.splat(0x1p52 + 1023 + 54), 0x1p52 + 1023);
  return {floatOf((bits & ((int64_t(1) << 52) - 1)) + rootHalf), k};
}

/// log(a) for a > 0 to about 2^-64.
Double2 accurateLog(Expr a) {
  auto [m, k] = decompose(a);
  Expr f = m - 1;
  // s = f / (2 + f)
  Double2 d = fastSum(f.splat(2), f);
  Expr inverse = 1 / d.hi;
  Expr quotient = f * inverse;
  Double2 s{quotient, fma(-quotient, d.lo, fma(-quotient, d.hi, f)) * inverse};
  // log m = 2 s + s z (2/3 + z Q(z)), z = s²: Q needs one double only
  Double2 z = product(s, s);
  Double2 w = fastSum(f.splat(0x1.5555555555555p-1), z.hi * polynomial(kLogTail, z.hi));
  w.lo = w.lo + 0x1.5555555555555p-55;
  Double2 u = product(s, product(z, w));
  Double2 sum = fastSum(s.hi * 2, u.hi);
  Expr lower = sum.lo + fma(s.lo, 2, u.lo);
  Double2 total = fastSum(k * 0x1.62e42fefa38p-1, sum.hi);
  return fastSum(total.hi, total.lo + fma(k, 0x1.ef35793c7673p-45, lower));
}

/// exp(a) for |a.hi| <= 746.
Expr accurateExp(Double2 a) {
  Expr shifted = fma(a.hi, 0x1.71547652b82fep0, 0x1.8p52);
  Expr n = shifted - 0x1.8p52;
  Expr first = fma(n, -0x1.62e42fefa38p-1, a.hi);
  Expr r = fma(n, -0x1.ef35793c7673p-45, first);
  Expr rest = fma(n, -0x1.ef35793c7673p-45, first - r) + a.lo;
  Expr p = fma(r * r, polynomial(kExpF64, r), r) + 1;
  p = fma(p, rest, p);
  Expr both = bitsOf(shifted) - 0x4338000000000000 + 2 * 1023;
  Expr half = shiftRight(both, 1);
  return p * floatOf(shiftLeft(half, 52)) * floatOf(shiftLeft(both - half, 52));
}

/// a^y, a >= 0, except for the cases `specialCases` replaces.
Expr power64(Expr a, Expr y) {
  Double2 log = accurateLog(a);
  log.hi = select(equal(a, 0), -kInfinity, select(equal(a, kInfinity), a, log.hi));
  Double2 exponent = product(y, log.hi);
  exponent.lo = fma(y, log.lo, exponent.lo);
  // Beyond the range the low part may be inf - inf.
  Expr clamped = clampBelow(clampAbove(exponent.hi, 710), -746);
  exponent.lo = select(equal(clamped, exponent.hi), exponent.lo, 0);
  return accurateExp({clamped, exponent.lo});
}

/// The same for f32: one double carries log2 and the product exactly enough.
Expr power32(Expr a32, Expr y32) {
  Expr a = extend(a32);
  auto [m, k] = decompose(a);
  Expr f = m - 1;
  Expr s = f / (f + 2);
  Expr log2 = fma(s, polynomial(kLog2, s * s), k);
  log2 = select(equal(a, 0), -kInfinity, select(equal(a, kInfinity), a, log2));
  Expr exponent = clampBelow(clampAbove(extend(y32) * log2, 130), -160);
  Expr shifted = exponent + 0x1.8p52;
  Expr p = polynomial(kExp2, exponent - (shifted - 0x1.8p52));
  // p·2^n stays a normal double; the one rounding to f32 makes inf and subnormals.
  return roundToF32(floatOf(bitsOf(p) + shiftLeft(bitsOf(shifted), 52)));
}

Expr logicalAnd(Expr a, Expr b) { return a & b; }
Expr logicalOr(Expr a, Expr b) { return a | b; }

/// IEEE 754 pow: signs of negative bases, then what is 1 or NaN whatever the logarithm says.
Expr specialCases(Expr result, Expr x, Expr y) {
  Expr half = y * 0.5;
  Expr integer = equal(roundEven(y), y);
  Expr odd = logicalAnd(integer, notEqual(roundEven(half), half));
  Expr a = absolute(x);
  result = select(odd, copySign(result, x), result);
  // -inf and -0 to any power have a value; a negative finite number only to integer powers.
  Expr negative = logicalAnd(lessThan(x, 0), notEqual(a, a.splat(kInfinity)));
  result = select(logicalAnd(negative, notEqual(roundEven(y), y)), kNaN, result);
  Expr undefined = logicalOr(isNaN(x), isNaN(y));
  result = select(undefined, kNaN, result);
  Expr one = logicalOr(equal(y, 0), equal(x, 1));
  one = logicalOr(one, logicalAnd(equal(a, 1), equal(absolute(y), kInfinity)));
  return select(one, 1, result);
}

} // namespace

Expr dlc::codegen::expandPow(Expr x, Expr y) {
  Expr a = absolute(x);
  return specialCases(x.isF64() ? power64(a, y) : power32(a, y), x, y);
}
