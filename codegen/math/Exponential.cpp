#include "math/Expansions.h"

#include "math/Coefficients.h"

using namespace dlc::codegen;

namespace {

constexpr double kLog2E = 0x1.71547652b82fep0;

/// x = n ln2 + r with |r| <= ln2 / 2.
struct Reduced {
  Expr n; ///< integer, as an integer type
  Expr r;
};

Reduced reduce(Expr x) {
  FloatFormat format = formatOf(x);
  // Adding 1.5·2^mantissa rounds to an integer and leaves it in the low bits: no conversion, which AVX2 lacks for i64.
  double magic = x.isF64() ? 0x1.8p52 : 0x1.8p23;
  Expr shifted = fma(x, kLog2E, magic);
  Expr n = shifted - magic;
  // The high part of ln2 has zeros where n has bits, so the first product is exact.
  double high = x.isF64() ? 0x1.62e42fefa38p-1 : 0x1.62e4p-1;
  double low = x.isF64() ? 0x1.ef35793c7673p-45 : 0x1.7f7d1cp-20;
  Expr r = fma(n, -low, fma(n, -high, x));
  Expr integer = bitsOf(shifted) - (int64_t(format.bias + format.mantissaBits) << format.mantissaBits) -
                 (int64_t(1) << (format.mantissaBits - 1));
  return {integer, r};
}

/// p·2^n in two steps: subnormal results and overflow need no branch.
Expr scale(Expr p, Expr n) {
  FloatFormat format = formatOf(p);
  Expr both = n + 2 * format.bias;
  Expr half = shiftRight(both, 1);
  return p * floatOf(shiftLeft(half, format.mantissaBits)) * floatOf(shiftLeft(both - half, format.mantissaBits));
}

} // namespace

Expr dlc::codegen::expandExp(Expr x) {
  bool wide = x.isF64();
  double lowest = wide ? -746 : -104; // rounds to 0
  auto [n, r] = reduce(clampBelow(clampAbove(x, wide ? 710 : 89), lowest));
  Expr q = wide ? polynomial(kExpF64, r) : polynomial(kExpF32, r);
  Expr p = fma(r * r, q, r) + 1;
  // An exact 0: rounding to it would trap into microcode, a hundred times slower, for every masked score of a softmax.
  return scale(select(lessThan(x, lowest), p.constant(0.0), p), n);
}

Expr dlc::codegen::expandExpm1(Expr x) {
  bool wide = x.isF64();
  FloatFormat format = formatOf(x);
  Expr clamped = clampBelow(clampAbove(x, wide ? 710 : 89), wide ? -38 : -18);
  auto [n, r] = reduce(clamped);
  Expr q = fma(r * r, wide ? polynomial(kExpm1F64, r) : polynomial(kExpm1F32, r), r);
  // Half of 2^n: n = 128 (1024) is no float, yet 2^n exp(r) may be finite.
  Expr half = floatOf(shiftLeft(n + (format.bias - 1), format.mantissaBits));
  Expr result = fma(half, q, half - 0.5) * 2;
  return select(lessThan(absolute(x), wide ? 0x1p-54 : 0x1p-25), x, result); // keeps -0 and subnormals
}

Expr dlc::codegen::expandTanh(Expr x) {
  // With t = expm1(2|x|), tanh|x| = t / (t + 2) cancels nowhere; the clamp keeps t finite.
  Expr a = absolute(x);
  Expr t = expandExpm1(clampAbove(a + a, x.isF64() ? 44 : 20));
  Expr large = t / (t + 2);
  if (!x.isF64()) {
    Expr z = x * x;
    large = select(lessThan(a, 0.625), fma(a * z, polynomial(kTanhF32, z), a), large);
  }
  return copySign(large, x);
}

Expr dlc::codegen::expandErf(Expr x) {
  bool wide = x.isF64();
  Expr a = absolute(x), z = x * x;
  Expr small = fma(a, wide ? polynomial(kErfF64, z) : polynomial(kErfF32, z), a);
  Expr c = clampAbove(a, wide ? 6 : 4);
  Expr tail =
      wide ? expandExp(-(c * c)) * polynomial(kErfcxF64, (c - 2) / (c + 2)) : expandExp(polynomial(kErfcF32, c));
  return copySign(select(lessThan(a, wide ? 1 : 0.92), small, 1 - tail), x);
}

Expr dlc::codegen::expandRsqrt(Expr x) { return 1 / sqrt(x); }
