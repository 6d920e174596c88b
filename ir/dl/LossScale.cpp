#include "dlc/ir/LossScale.h"

#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Reduce.h"
#include "dlc/ir/Shape.h"
#include "dlc/ir/TensorBuilder.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/LossScale.cpp.inc"

void DlDialect::addLossScaleOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/LossScale.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static LogicalResult verifyScalars(Operation *op, ValueRange scalars) {
  for (Value scalar : scalars)
    if (typeOf(scalar).getRank() != 0)
      return op->emitOpError("expects scales, counts and norms of rank 0, got ") << scalar.getType();
  return success();
}

LogicalResult UnscaleOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.assign({adaptor.getG().getType(), RankedTensorType::get({}, IntegerType::get(context, 1))});
  return success();
}

LogicalResult UnscaleOp::verify() { return verifyScalars(*this, getScale()); }

SmallVector<Value> UnscaleOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, getLoc());
  RankedTensorType type = typeOf(getG());
  Value finite = IsFiniteOp::create(builder, getLoc(), getG());
  if (type.getRank())
    finite = ReduceAndOp::create(builder, getLoc(), finite, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  Value scale = t.cast(getScale(), builder.getF64Type());
  Value inverse = t.cast(t.div(t.splat(1, scale), scale), type.getElementType());
  Value factor = builder.createOrFold<BroadcastOp>(getLoc(), type, inverse, ArrayRef<int64_t>{});
  return {t.mul(getG(), factor), finite};
}

LogicalResult UpdateScaleOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.assign({adaptor.getScale().getType(), adaptor.getCount().getType()});
  return success();
}

LogicalResult UpdateScaleOp::verify() {
  double growth = getGrowth().convertToDouble(), backoff = getBackoff().convertToDouble();
  if (!(growth > 1) || !(backoff > 0 && backoff < 1) || int64_t(getInterval()) < 1)
    return emitOpError("expects a growth above 1, a backoff in (0, 1) and an interval of 1 or more, got ")
           << growth << ", " << backoff << " and " << int64_t(getInterval());
  return verifyScalars(*this, {getScale(), getCount(), getFound()});
}

SmallVector<Value> UpdateScaleOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, getLoc());
  Value wide = t.cast(getScale(), builder.getF64Type());
  auto times = [&](const APFloat &factor) {
    return t.cast(t.mul(wide, factor.convertToDouble()), typeOf(getScale()).getElementType());
  };
  Value count = t.add(getCount(), 1);
  Value isDue = t.ge(count, t.splat(double(int64_t(getInterval())), count));
  Value grown = times(getGrowth());
  Value grows = t.logicalAnd(isDue, IsFiniteOp::create(builder, getLoc(), grown));
  Value scale = t.select(getFound(), times(getBackoff()), t.select(grows, grown, getScale()));
  Value restarts = OrOp::create(builder, getLoc(), getFound(), isDue);
  return {scale, t.select(restarts, t.splat(0.0, count), count)};
}

LogicalResult ClipFactorOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  if (adaptor.getNorms().empty())
    return emitOptionalError(location, "expects one norm or more, got none");
  types.assign(2, adaptor.getNorms().front().getType());
  return success();
}

LogicalResult ClipFactorOp::verify() {
  for (Value norm : getNorms())
    if (norm.getType() != getNorm().getType())
      return emitOpError("expects norms of one type, got ") << getNorm().getType() << " and " << norm.getType();
  return verifyScalars(*this, getOperands());
}

SmallVector<Value> ClipFactorOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, getLoc());
  Value squares;
  for (Value norm : getNorms()) {
    Value wide = t.cast(norm, builder.getF64Type()), square = t.mul(wide, wide);
    squares = squares ? t.add(squares, square) : square;
  }
  Value norm = t.cast(t.sqrt(squares), typeOf(getNorm()).getElementType());
  Value room = t.div(t.cast(getMaxNorm(), typeOf(norm).getElementType()), t.add(norm, 1e-6));
  return {norm, MinimumOp::create(builder, getLoc(), room, t.splat(1, norm))};
}
