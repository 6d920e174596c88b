#include "dlc/ir/Math.h"

#include "reference/Registry.h"

#include <cmath>

using namespace dlc::dl;

void dlc::dl::registerReferenceMath(ReferenceRegistry &r) {
  r.addPointwise<ExpOp>([](double x) { return std::exp(x); });
  r.addPointwise<Expm1Op>([](double x) { return std::expm1(x); });
  r.addPointwise<LogOp>([](double x) { return std::log(x); });
  r.addPointwise<Log1pOp>([](double x) { return std::log1p(x); });
  r.addPointwise<SqrtOp>([](double x) { return std::sqrt(x); });
  r.addPointwise<RsqrtOp>([](double x) { return 1 / std::sqrt(x); });
  r.addPointwise<SinOp>([](double x) { return std::sin(x); });
  r.addPointwise<CosOp>([](double x) { return std::cos(x); });
  r.addPointwise<TanhOp>([](double x) { return std::tanh(x); });
  r.addPointwise<ErfOp>([](double x) { return std::erf(x); });
  r.addPointwise<PowOp>([](double a, double b) { return std::pow(a, b); });
}
