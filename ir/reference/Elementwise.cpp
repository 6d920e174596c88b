#include "dlc/ir/Elementwise.h"

#include "reference/Registry.h"

#include <cmath>

using namespace dlc::dl;

// Signed arithmetic that wraps, without the undefined behaviour of C++.
static int64_t wrap(uint64_t value) { return int64_t(value); }
static int64_t divide(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? wrap(-uint64_t(a)) : a / b; }
static int64_t remainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
static int64_t floorDivide(int64_t a, int64_t b) {
  bool above = remainder(a, b) != 0 && (remainder(a, b) < 0) != (b < 0);
  return divide(a, b) - above;
}

// As PyTorch and Python: from the exact remainder, so that a rounded quotient cannot be one too high.
static double floorDivide(double a, double b) {
  if (b == 0)
    return a / b;
  double remainder = std::fmod(a, b), quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0))
    quotient -= 1;
  if (quotient == 0)
    return std::copysign(0.0, a / b);
  double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

template <class T>
static bool holds(ComparePredicate predicate, T a, T b) {
  switch (predicate) {
  case ComparePredicate::Eq:
    return a == b;
  case ComparePredicate::Ne:
    return a != b;
  case ComparePredicate::Lt:
    return a < b;
  case ComparePredicate::Le:
    return a <= b;
  case ComparePredicate::Gt:
    return a > b;
  case ComparePredicate::Ge:
    return a >= b;
  }
  return false;
}

static void compareElements(CompareOp op, ReferenceOperands x, ReferenceResults y) {
  for (int64_t i = 0; i < y[0].size(); ++i)
    y[0].integers[i] = x[0].isFloat() ? holds(op.getPredicate(), x[0].floats[i], x[1].floats[i])
                                      : holds(op.getPredicate(), x[0].integers[i], x[1].integers[i]);
}

static void selectElements(SelectOp, ReferenceOperands x, ReferenceResults y) {
  for (int64_t i = 0; i < y[0].size(); ++i) {
    const ReferenceTensor &chosen = x[0].integers[i] ? x[1] : x[2];
    if (chosen.isFloat())
      y[0].floats[i] = chosen.floats[i];
    else
      y[0].integers[i] = chosen.integers[i];
  }
}

static void registerArithmetic(ReferenceRegistry &r) {
  r.addPointwise<AddOp>([](double a, double b) { return a + b; },
                        [](int64_t a, int64_t b) { return wrap(uint64_t(a) + uint64_t(b)); });
  r.addPointwise<SubOp>([](double a, double b) { return a - b; },
                        [](int64_t a, int64_t b) { return wrap(uint64_t(a) - uint64_t(b)); });
  r.addPointwise<MulOp>([](double a, double b) { return a * b; },
                        [](int64_t a, int64_t b) { return wrap(uint64_t(a) * uint64_t(b)); });
  r.addPointwise<DivOp>([](double a, double b) { return a / b; }, [](int64_t a, int64_t b) { return divide(a, b); });
  r.addPointwise<FloorDivOp>([](double a, double b) { return floorDivide(a, b); },
                             [](int64_t a, int64_t b) { return floorDivide(a, b); });
  r.addPointwise<RemOp>([](double a, double b) { return std::fmod(a, b); },
                        [](int64_t a, int64_t b) { return remainder(a, b); });
  r.addPointwise<MaximumOp>([](double a, double b) { return std::isnan(a) || a > b ? a : b; },
                            [](int64_t a, int64_t b) { return a > b ? a : b; });
  r.addPointwise<MinimumOp>([](double a, double b) { return std::isnan(a) || a < b ? a : b; },
                            [](int64_t a, int64_t b) { return a < b ? a : b; });
  r.addPointwise<NegOp>([](double x) { return -x; }, [](int64_t x) { return wrap(-uint64_t(x)); });
  r.addPointwise<AbsOp>([](double x) { return std::fabs(x); },
                        [](int64_t x) { return x < 0 ? wrap(-uint64_t(x)) : x; });
  r.addPointwise<SignOp>([](double x) { return x > 0   ? 1.0
                                               : x < 0 ? -1.0
                                                       : x; },
                         [](int64_t x) { return int64_t(x > 0) - int64_t(x < 0); });
  r.addPointwise<FloorOp>([](double x) { return std::floor(x); });
  r.addPointwise<CeilOp>([](double x) { return std::ceil(x); });
  // std::nearbyint follows the rounding mode, which is nearest even everywhere in dlc.
  r.addPointwise<RoundEvenOp>([](double x) { return std::nearbyint(x); });
}

void dlc::dl::registerReferenceElementwise(ReferenceRegistry &r) {
  registerArithmetic(r);
  auto noFloats = [](double x) { return x; };
  r.addPointwise<AndOp>(noFloats, [](int64_t a, int64_t b) { return a & b; });
  r.addPointwise<OrOp>(noFloats, [](int64_t a, int64_t b) { return a | b; });
  r.addPointwise<XorOp>(noFloats, [](int64_t a, int64_t b) { return a ^ b; });
  r.addPointwise<NotOp>(noFloats, [](int64_t x) { return ~x; });
  r.add<IsFiniteOp>([](IsFiniteOp, ReferenceOperands x, ReferenceResults y) {
    for (int64_t i = 0; i < y[0].size(); ++i)
      y[0].integers[i] = std::isfinite(x[0].floats[i]);
  });
  r.add<CompareOp>(compareElements);
  r.add<SelectOp>(selectElements);
}
