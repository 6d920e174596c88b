#include "dlc/ir/Cast.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Cast.cpp.inc"

void DlDialect::addCastOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Cast.cpp.inc"
      >();
}

LogicalResult CastOp::verify() {
  RankedTensorType from = getX().getType(), to = getType();
  if (from.getShape() != to.getShape())
    return emitOpError("expects a result of the operand's shape, got ") << from << " and " << to;
  return success();
}

Value CastOp::emitScalar(ScalarBuilder &b, ValueRange args) { return b.cast(args[0], getType().getElementType()); }

bool CastOp::isDifferentiable(unsigned operand) {
  return hasFloatElements(getX().getType()) && hasFloatElements(getType());
}

LogicalResult CastOp::buildAdjoint(AdjointBuilder &b) {
  if (Cotangent g = b.cotangent())
    b.addTo(0, Cotangent{b.tensors().cast(g.value, getX().getType().getElementType()), g.mask});
  return success();
}

// Bits that hold every integer of the type, for floats too; a sign among them.
static unsigned integerBits(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type ? type.getFPMantissaWidth() + 1 : element.getIntOrFloatBitWidth();
}

// Whether every value of `from` is a value of `to`, so that casting there and back changes nothing.
static bool holdsAll(Type from, Type to) {
  // Of 16 bits neither type holds the other: one has the larger range, one the more digits.
  if (isa<FloatType>(from))
    return from == to || (isa<FloatType>(to) && from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth());
  return integerBits(from) <= integerBits(to);
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  auto inner = getX().getDefiningOp<CastOp>();
  if (inner && inner.getX().getType() == getType() &&
      holdsAll(getType().getElementType(), inner.getType().getElementType()))
    return inner.getX();
  return nullptr;
}

// To a narrower type, or to integers, a sum is not the sum of what its parts become.
bool CastOp::passesPartial(unsigned, ReduceKind) {
  auto from = dyn_cast<FloatType>(getX().getType().getElementType());
  auto to = dyn_cast<FloatType>(getType().getElementType());
  return from && to && from.getWidth() < to.getWidth();
}
