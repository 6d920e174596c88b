#include "library/Epilogues.h"

#include "dlc/ir/Activation.h"
#include "dlc/ir/Cast.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Shape.h"
#include "dlc/ir/Widen.h"
#include "kernels/ElementScope.h"
#include "kernels/GroupAnalysis.h"
#include "library/GeluSlope.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

using Epilogue = MatMulCall::Epilogue;

namespace {

/// Looks at values from the result back to the anchor.
class EpilogueMatcher {
public:
  EpilogueMatcher(dl::GroupOp group, Operation *anchor, int64_t columns)
      : group(group), anchor(anchor), columns(columns) {}

  std::optional<LibraryEpilogue> match(Value value);

private:
  std::optional<LibraryEpilogue> matchBias(Value value);
  std::optional<LibraryEpilogue> matchSlope(Value value);
  int64_t biasNumber(Value value);

  dl::GroupOp group;
  Operation *anchor;
  int64_t columns;
};

} // namespace

int64_t codegen::inputNumber(Value value) {
  if (auto cast = value.getDefiningOp<dl::CastOp>(); cast && dl::widensNarrowFloats(cast))
    value = cast.getX();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? int64_t(argument.getArgNumber()) : -1;
}

// The operand that is added to each row; its elements must be the result's.
int64_t EpilogueMatcher::biasNumber(Value value) {
  auto broadcast = unrounded(value).getDefiningOp<dl::BroadcastOp>();
  if (!broadcast)
    return -1;
  ArrayRef<int64_t> from = shapeOf(broadcast.getX()), to = shapeOf(broadcast);
  ArrayRef<int64_t> dims = broadcast.getDims();
  if (from.size() != 1 || from[0] != columns || dims.size() != 1 || dims[0] != int64_t(to.size()) - 1)
    return -1;
  int64_t number = inputNumber(unrounded(broadcast.getX()));
  Type element = getElementTypeOrSelf(group.getResult(0).getType());
  return number >= 0 && getElementTypeOrSelf(group.getOperand(number).getType()) == element ? number : -1;
}

std::optional<LibraryEpilogue> EpilogueMatcher::matchBias(Value value) {
  Value result = anchor->getResult(0);
  value = unrounded(value);
  if (value == result)
    return LibraryEpilogue{};
  Value sides[2];
  if (shapeOf(value) != shapeOf(result) ||
      !matchPattern(value, m_Op<dl::AddOp>(matchers::m_Any(&sides[0]), matchers::m_Any(&sides[1]))))
    return {};
  for (int side : {0, 1})
    if (int64_t bias = biasNumber(sides[1 - side]); bias >= 0 && unrounded(sides[side]) == result)
      return LibraryEpilogue{Epilogue::Bias, bias};
  return {};
}

// x lies in memory as the result does.
std::optional<LibraryEpilogue> EpilogueMatcher::matchSlope(Value value) {
  Value sides[2];
  if (!matchPattern(value, m_Op<dl::MulOp>(matchers::m_Any(&sides[0]), matchers::m_Any(&sides[1]))))
    return {};
  for (int side : {0, 1}) {
    Value x = unrounded(sides[side]) == anchor->getResult(0) ? geluSlopeOf(sides[1 - side]) : Value();
    int64_t number = x ? inputNumber(unrounded(x)) : -1;
    if (number >= 0 && group.getOperand(unsigned(number)).getType() == group.getResult(0).getType())
      return LibraryEpilogue{Epilogue::GeluGrad, -1, number};
  }
  return {};
}

std::optional<LibraryEpilogue> EpilogueMatcher::match(Value value) {
  value = unrounded(value);
  if (auto slope = matchSlope(value))
    return slope;
  Value inner = value;
  bool isRelu = matchPattern(value, m_Op<dl::ReluOp>(matchers::m_Any(&inner)));
  bool isGelu = !isRelu && matchPattern(value, m_Op<dl::GeluOp>(matchers::m_Any(&inner)));
  if (isGelu && cast<dl::GeluOp>(value.getDefiningOp()).getApproximate() != dl::GeluApproximation::Tanh)
    return {};
  std::optional<LibraryEpilogue> found = matchBias(inner);
  if (found && (isRelu || isGelu)) {
    bool bias = found->kind == Epilogue::Bias;
    found->kind = isRelu ? (bias ? Epilogue::ReluBias : Epilogue::Relu) : (bias ? Epilogue::GeluBias : Epilogue::Gelu);
  }
  return found;
}

std::optional<LibraryEpilogue> codegen::matchEpilogue(dl::GroupOp group, Operation *anchor, int64_t columns) {
  if (group.getNumResults() != 1 || product(shapeOf(group.getResult(0))) != product(shapeOf(anchor->getResult(0))))
    return {};
  return EpilogueMatcher(group, anchor, columns).match(resultsOf(group)[0]);
}
