#include "dlc/ir/AdjointBuilder.h"

#include "dlc/ir/Constant.h"
#include "dlc/ir/Elementwise.h"

using namespace mlir;
using namespace dlc::dl;

bool dlc::dl::carriesDerivative(Operation *op, unsigned operand) {
  if (op->hasTrait<NonDifferentiable>())
    return false;
  if (auto differentiable = dyn_cast<DifferentiableOpInterface>(op))
    return differentiable.isDifferentiable(operand);
  return hasFloatElements(op->getOperand(operand).getType());
}

void AdjointBuilder::addTo(unsigned operand, Cotangent contribution) {
  if (contribution && needs(operand))
    added.emplace_back(operand, contribution);
}

Cotangent AdjointBuilder::scale(Cotangent g, Value d) {
  if (!g)
    return g;
  Value product = MulOp::create(builder, getLoc(), g.value, d);
  return g.mask ? route(g.mask, Cotangent{product, {}}) : Cotangent{product, {}};
}

Cotangent AdjointBuilder::divide(Cotangent g, Value d) {
  if (!g)
    return g;
  Value quotient = DivOp::create(builder, getLoc(), g.value, d);
  return g.mask ? route(g.mask, Cotangent{quotient, {}}) : Cotangent{quotient, {}};
}

Cotangent AdjointBuilder::negate(Cotangent g) {
  return g ? Cotangent{NegOp::create(builder, getLoc(), g.value), g.mask} : g;
}

Cotangent AdjointBuilder::route(Value predicate, Cotangent g) {
  if (!g)
    return g;
  Value zero = ConstantOp::createSplat(builder, getLoc(), cast<RankedTensorType>(g.value.getType()), 0.0);
  Value mask = g.mask ? Value(AndOp::create(builder, getLoc(), predicate, g.mask)) : predicate;
  return {SelectOp::create(builder, getLoc(), predicate, g.value, zero), mask};
}
