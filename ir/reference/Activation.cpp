#include "dlc/ir/Activation.h"

#include "reference/Registry.h"

#include <cmath>
#include <numbers>

using namespace dlc::dl;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static double gelu(GeluApproximation approximation, double x) {
  if (approximation == GeluApproximation::None)
    return x / 2 * std::erfc(-x / std::numbers::sqrt2);
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

// A bound has the element type.
static double clamp(ClampOp op, double x) {
  auto element = cast<mlir::FloatType>(op.getType().getElementType());
  auto bound = [&](llvm::APFloat value) {
    bool loses = false;
    value.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
    return value.convertToDouble();
  };
  if (op.getMin() && x < bound(*op.getMin()))
    x = bound(*op.getMin());
  if (op.getMax() && x > bound(*op.getMax()))
    x = bound(*op.getMax());
  return x;
}

void dlc::dl::registerReferenceActivation(ReferenceRegistry &r) {
  r.addPointwise<ReluOp>([](double x) { return x <= 0 ? 0.0 : x; });
  r.addPointwise<SigmoidOp>([](double x) { return sigmoid(x); });
  r.addPointwise<SiluOp>([](double x) { return x * sigmoid(x); });
  // log(1 + exp(x)); for large x, exp(x) would overflow and x is exact.
  r.addPointwise<SoftplusOp>([](double x) { return x > 40 ? x : std::log1p(std::exp(x)); });
  r.add<GeluOp>([](GeluOp op, ReferenceOperands x, ReferenceResults y) {
    for (int64_t i = 0; i < y[0].size(); ++i)
      y[0].floats[i] = gelu(op.getApproximate(), x[0].floats[i]);
  });
  r.add<ClampOp>([](ClampOp op, ReferenceOperands x, ReferenceResults y) {
    for (int64_t i = 0; i < y[0].size(); ++i)
      y[0].floats[i] = clamp(op, x[0].floats[i]);
  });
}
