// With c = clamp(x), p(k) = k * c * c + 1 and t = tanh(c * p(0.044715) * sqrt(2 / pi)):
//
//   slope = (t + 1) / 2 + c * ((1 - t * t) * (p(0.134145) * sqrt(2 / pi)) / 2)
#include "library/GeluSlope.h"

#include "dlc/ir/Activation.h"
#include "dlc/ir/Cast.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Math.h"
#include "dlc/ir/Widen.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

constexpr double kCubic = 0.044715, kScale = 0.79788456080286535588; // sqrt(2 / pi)

using Is = llvm::function_ref<bool(Value)>;

/// Looks at the terms of a slope; x is what the first clamp met is of.
class SlopeMatcher {
public:
  bool isSlope(Value value);
  Value x;

private:
  bool isClamped(Value value);
  bool isPolynomial(Value value, double factor);
  bool isTanh(Value value);
  bool isInner(Value value);
};

} // namespace

Value codegen::unrounded(Value value) {
  auto isReal = [](Value each) {
    return getElementTypeOrSelf(each.getType()).isF32() || dl::hasNarrowFloats(each.getType());
  };
  while (auto cast = value.getDefiningOp<dl::CastOp>()) {
    if (!isReal(cast.getX()) || !isReal(value))
      break;
    value = cast.getX();
  }
  return value;
}

static bool isNumber(Value value, double wanted) {
  DenseFPElementsAttr elements;
  if (!matchPattern(unrounded(value), m_Constant(&elements)) || !elements.isSplat())
    return false;
  return std::abs(elements.getSplatValue<APFloat>().convertToDouble() - wanted) <= 1e-6 * wanted;
}

/// `OpTy` of one value and the other, in either order.
template <typename OpTy>
static bool areBoth(Value value, Is one, Is other) {
  Value sides[2];
  if (!matchPattern(unrounded(value), m_Op<OpTy>(matchers::m_Any(&sides[0]), matchers::m_Any(&sides[1]))))
    return false;
  return (one(sides[0]) && other(sides[1])) || (one(sides[1]) && other(sides[0]));
}

bool SlopeMatcher::isClamped(Value value) {
  constexpr double kBound = 10;
  auto clamp = unrounded(value).getDefiningOp<dl::ClampOp>();
  if (!clamp || !clamp.getMin() || clamp.getMin()->convertToDouble() != -kBound || !clamp.getMax() ||
      clamp.getMax()->convertToDouble() != kBound)
    return false;
  x = x ? x : clamp.getX();
  return x == clamp.getX();
}

bool SlopeMatcher::isPolynomial(Value value, double factor) {
  auto clamped = [&](Value each) { return isClamped(each); };
  auto square = [&](Value each) { return areBoth<dl::MulOp>(each, clamped, clamped); };
  auto scaled = [&](Value each) {
    return areBoth<dl::MulOp>(each, square, [&](Value number) { return isNumber(number, factor); });
  };
  return areBoth<dl::AddOp>(value, scaled, [](Value number) { return isNumber(number, 1); });
}

bool SlopeMatcher::isTanh(Value value) {
  Value inner;
  auto cubic = [&](Value each) {
    return areBoth<dl::MulOp>(
        each, [&](Value side) { return isClamped(side); }, [&](Value side) { return isPolynomial(side, kCubic); });
  };
  return matchPattern(unrounded(value), m_Op<dl::TanhOp>(matchers::m_Any(&inner))) &&
         areBoth<dl::MulOp>(inner, cubic, [](Value number) { return isNumber(number, kScale); });
}

// (1 - t * t) * u' / 2
bool SlopeMatcher::isInner(Value value) {
  auto isHalf = [](Value number) { return isNumber(number, 0.5); };
  auto derivative = [&](Value each) {
    return areBoth<dl::MulOp>(
        each, [&](Value side) { return isPolynomial(side, 3 * kCubic); },
        [](Value number) { return isNumber(number, kScale); });
  };
  auto rest = [&](Value each) {
    Value one, square;
    auto isT = [&](Value side) { return isTanh(side); };
    return matchPattern(unrounded(each), m_Op<dl::SubOp>(matchers::m_Any(&one), matchers::m_Any(&square))) &&
           isNumber(one, 1) && areBoth<dl::MulOp>(square, isT, isT);
  };
  auto product = [&](Value each) { return areBoth<dl::MulOp>(each, rest, derivative); };
  return areBoth<dl::MulOp>(value, product, isHalf);
}

bool SlopeMatcher::isSlope(Value value) {
  auto share = [&](Value each) {
    return areBoth<dl::AddOp>(
        each, [&](Value side) { return isTanh(side); }, [](Value number) { return isNumber(number, 1); });
  };
  auto half = [&](Value each) {
    return areBoth<dl::MulOp>(each, share, [](Value number) { return isNumber(number, 0.5); });
  };
  auto rest = [&](Value each) {
    return areBoth<dl::MulOp>(
        each, [&](Value side) { return isClamped(side); }, [&](Value side) { return isInner(side); });
  };
  return areBoth<dl::AddOp>(value, half, rest);
}

Value codegen::geluSlopeOf(Value slope) {
  SlopeMatcher matcher;
  return matcher.isSlope(slope) ? matcher.x : Value();
}
