#include "dlc/ir/ScalarBuilder.h"

#include "mlir/IR/TypeUtilities.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace dlc::dl;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Long division of magnitudes of f32 values in f64, 28 quotient bits a step: r < s * 2^28, so the rounded quotient has
// the right floor (24 + 28 bits < 53), q * s is exact, and so is the difference. 11 steps cover 2^277, the largest
// ratio.
static Value remainderOfSingles(ScalarBuilder &b, Value r, Value divisor) {
  Type f64 = b.getBuilder().getF64Type();
  for (int step = 10; step >= 0; --step) {
    Value s = step ? b.mul(divisor, b.constant(std::ldexp(1.0, 28 * step), f64)) : divisor;
    r = b.sub(r, b.mul(b.floor(b.div(r, s)), s));
  }
  return r;
}

// divisor * 2^exponent; powers of two above the range of f64 in several exact factors, infinite when too large.
static Value scaleUp(ScalarBuilder &b, Value divisor, int exponent) {
  for (int left = exponent; left > 0; left -= 1000)
    divisor = b.mul(divisor, b.constant(std::ldexp(1.0, std::min(left, 1000)), b.getBuilder().getF64Type()));
  return divisor;
}

// The same with 52 bits a step. The rounded quotient may be one too high; the fma is exact, so its sign tells.
static Value remainderOfDoubles(ScalarBuilder &b, Value r, Value divisor) {
  Type f64 = b.getBuilder().getF64Type();
  Value zero = b.constant(0.0, f64), infinity = b.constant(kInfinity, f64);
  for (int step = 40; step >= 0; --step) {
    Value s = scaleUp(b, divisor, 52 * step);
    Value next = b.fma(b.neg(b.floor(b.div(r, s))), s, r);
    next = b.select(b.lt(next, zero), b.add(next, s), next);
    r = b.select(b.eq(s, infinity), r, next);
  }
  return r;
}

Value ScalarBuilder::remFloat(Value a, Value b) {
  Type element = getElementTypeOrSelf(a.getType()), f64 = builder.getF64Type();
  Value dividend = cast(abs(a), f64), divisor = cast(abs(b), f64), infinity = constant(kInfinity, f64);
  Value r =
      element.isF64() ? remainderOfDoubles(*this, dividend, divisor) : remainderOfSingles(*this, dividend, divisor);
  r = select(eq(divisor, infinity), dividend, r);
  r = select(eq(dividend, infinity), constant(kNan, f64), r);
  return copySign(cast(r, element), a);
}

// The floor of the exact quotient where it has a fraction: an f32 quotient in f64 rounds to an integer only when it is
// one (below 2^29; above, f32 has no fraction), an f64 quotient is corrected by the sign of its exact remainder.
Value ScalarBuilder::floorDivFloat(Value a, Value b) {
  Type element = getElementTypeOrSelf(a.getType()), f64 = builder.getF64Type();
  Value dividend = cast(a, f64), divisor = cast(b, f64);
  Value zero = constant(0.0, f64), one = constant(1.0, f64), infinity = constant(kInfinity, f64);
  Value quotient = div(dividend, divisor), floored = floor(quotient);
  Value signsDiffer = bitXor(lt(dividend, zero), lt(divisor, zero));
  if (element.isF64()) {
    Value remainder = fma(neg(floored), divisor, dividend);
    Value tooHigh = bitAnd(ne(remainder, zero), bitXor(lt(remainder, zero), lt(divisor, zero)));
    Value hasFraction = lt(abs(quotient), constant(std::ldexp(1.0, 52), f64));
    floored = select(hasFraction, select(tooHigh, sub(floored, one), floored), quotient);
  }
  // A quotient of 0 may come from infinity or underflow; no remainder tells.
  Value justBelow = bitAnd(ne(dividend, zero), signsDiffer);
  floored = select(eq(quotient, zero), select(justBelow, neg(one), quotient), floored);
  Value undefined = bitAnd(eq(abs(dividend), infinity), ne(divisor, zero));
  return cast(select(undefined, constant(kNan, f64), floored), element);
}
