#include "dlc/ir/Widen.h"

#include "dlc/ir/Cast.h"
#include "dlc/ir/Constant.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dlc;

bool dl::hasNarrowFloats(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() == 16;
}

bool dl::touchesNarrowFloats(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), hasNarrowFloats) || llvm::any_of(op->getResultTypes(), hasNarrowFloats);
}

bool dl::computesNarrowFloats(Operation *op) {
  return isa<ScalarBodyOpInterface, ReductionOpInterface, OwnKernelOpInterface>(op) && !isa<CastOp>(op) &&
         touchesNarrowFloats(op);
}

bool dl::widensNarrowFloats(Operation *op) {
  auto cast = dyn_cast_or_null<CastOp>(op);
  return cast && hasNarrowFloats(cast.getX().getType()) && getElementTypeOrSelf(cast.getType()).isF32();
}

static RankedTensorType wideType(Type type) {
  return cast<RankedTensorType>(type).clone(Float32Type::get(type.getContext()));
}

// Splats stay constants: kernels write those into their code. A value has one cast, right behind it, for all its users.
static Value wideValue(OpBuilder &builder, Value value) {
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return dl::ConstantOp::createSplat(builder, value.getLoc(), wideType(value.getType()),
                                       constant.getSplatValue<APFloat>().convertToDouble());
  for (Operation *user : value.getUsers())
    if (auto cast = dyn_cast<dl::CastOp>(user); cast && cast.getType() == wideType(value.getType()) &&
                                                user->getBlock() == builder.getBlock() &&
                                                user->isBeforeInBlock(&*builder.getInsertionPoint()))
      return cast;
  return dl::CastOp::create(builder, value.getLoc(), wideType(value.getType()), value);
}

Operation *dl::widen(Operation *op) {
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(hasNarrowFloats(operand.getType()) ? wideValue(builder, operand) : operand);
  Operation *wide = builder.clone(*op);
  wide->setOperands(operands);
  if (isa<OwnKernelOpInterface>(wide))
    wide->setAttr(kWidenedAttr, builder.getUnitAttr());
  for (OpResult result : wide->getResults())
    if (hasNarrowFloats(result.getType()))
      result.setType(wideType(result.getType()));
  for (auto [old, result] : llvm::zip_equal(op->getResults(), wide->getResults()))
    old.replaceAllUsesWith(result.getType() == old.getType()
                               ? Value(result)
                               : CastOp::create(builder, op->getLoc(), old.getType(), result));
  op->erase();
  return wide;
}

void dl::widenComposites(Operation *root) {
  SmallVector<Operation *> composites;
  root->walk([&](DecomposableOpInterface op) { // ops of a region are widened by themselves
    bool computes = !isa<ScalarBodyOpInterface, OwnKernelOpInterface>(op.getOperation()) && op->getNumRegions() == 0;
    if (computes && touchesNarrowFloats(op))
      composites.push_back(op);
  });
  for (Operation *op : composites)
    widen(op);
}
