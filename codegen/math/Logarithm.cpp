#include "math/Expansions.h"

#include "math/Coefficients.h"

#include <limits>

using namespace dlc::codegen;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// y = 2^k m with m in [sqrt(1/2), sqrt(2)), for normal y > 0.
struct Decomposed {
  Expr m;
  Expr biased; ///< k + bias, as an integer
};

Decomposed decompose(Expr y) {
  FloatFormat format = formatOf(y);
  int64_t rootHalf = y.isF64() ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  Expr bits = bitsOf(y) - rootHalf;
  // Biased first, so that a logical shift does: AVX2 has no arithmetic one for i64.
  Expr biased = shiftRight(bits + (int64_t(format.bias) << format.mantissaBits), format.mantissaBits);
  return {floatOf((bits & format.mantissaMask()) + rootHalf), biased};
}

/// The small non-negative integer as a float, minus the bias: through the bits of 2^mantissa + n.
Expr exponentOf(Expr biased, Expr like) {
  FloatFormat format = formatOf(like);
  int64_t one = int64_t(format.bias + format.mantissaBits) << format.mantissaBits;
  return floatOf(biased | one) - (double(int64_t(1) << format.mantissaBits) + format.bias);
}

/// k ln2 + log(1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1].
Expr logarithm(Expr f, Expr k) {
  if (f.isF64()) {
    constexpr double high = 0x1.62e42fefa38p-1, low = 0x1.ef35793c7673p-45;
    // log(1 + f) = 2 atanh(s) = f - s (f - z P(z)) with s = f / (2 + f), z = s²
    Expr s = f / (f + 2), z = s * s;
    Expr correction = s * (f - z * polynomial(kLogF64, z));
    return fma(k, high, f - fma(k, -low, correction));
  }
  constexpr double high = 0x1.62e4p-1, low = 0x1.7f7d1cp-20;
  Expr f2 = f * f;
  Expr t = fma(k, low, f2 * f * polynomial(kLogF32, f));
  return fma(k, high, f + fma(f2, -0.5, t));
}

} // namespace

Expr dlc::codegen::expandLog(Expr x) {
  bool wide = x.isF64();
  Expr tiny = lessThan(x, wide ? 0x1p-1022 : 0x1p-126);
  auto [m, biased] = decompose(select(tiny, x * (wide ? 0x1p54 : 0x1p23), x));
  Expr k = exponentOf(biased, x);
  k = k - select(tiny, k.splat(wide ? 54 : 23), k.splat(0));
  Expr result = logarithm(m - 1, k);
  result = select(equal(x, kInfinity), x, result);
  result = select(equal(x, 0), -kInfinity, result);
  return select(lessThan(x, 0), kNaN, select(isNaN(x), x, result));
}

Expr dlc::codegen::expandLog1p(Expr x) {
  bool wide = x.isF64();
  FloatFormat format = formatOf(x);
  Expr u = x + 1;
  // What the sum lost (Knuth), scaled by 2^-k; nothing that counts for large x, where 2^-k would leave the format.
  Expr part = u - 1;
  Expr lost = (1 - (u - part)) + (x - part);
  auto [m, biased] = decompose(u);
  Expr inverse = floatOf(shiftLeft(biased.splat(2 * format.bias) - biased, format.mantissaBits)); // 2^-k
  lost = select(lessThan(x, wide ? 0x1p60 : 0x1p30), lost * inverse, 0);
  Expr result = logarithm((m - 1) + lost, exponentOf(biased, x));
  result = select(equal(x, kInfinity), x, result);
  result = select(equal(x, 0), x, result);
  result = select(equal(x, -1), -kInfinity, result);
  return select(lessThan(x, -1), kNaN, select(isNaN(x), x, result));
}
