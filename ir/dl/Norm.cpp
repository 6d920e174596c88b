#include "dlc/ir/Norm.h"

#include "AxisBuilder.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Norm.cpp.inc"

void DlDialect::addNormOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Norm.cpp.inc"
      >();
}

static LogicalResult verifyAxis(Operation *op, int64_t axis, RankedTensorType type) {
  if (axis >= 0 && axis < type.getRank())
    return success();
  return op->emitOpError("expects axis in [0, ") << type.getRank() << "), got " << axis;
}

LogicalResult SoftmaxOp::verify() { return verifyAxis(*this, getAxis(), getType()); }
LogicalResult LogSoftmaxOp::verify() { return verifyAxis(*this, getAxis(), getType()); }

/// x - max along the axis.
static Value shifted(AxisBuilder &over, Value x) { return over.sub(x, over.spread(over.max(x))); }

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &b) {
  if (getType().getNumElements() == 0)
    return {getX()};
  AxisBuilder over(b, getLoc(), getType(), int64_t(getAxis()));
  Value e = over.exp(shifted(over, getX()));
  return {over.div(e, over.spread(over.sum(e)))};
}

bool SoftmaxOp::keepWhole(Stage stage) { return stage == Stage::Autodiff; }

LogicalResult SoftmaxOp::buildAdjoint(AdjointBuilder &b) {
  if (!b.cotangent())
    return success();
  AxisBuilder over(b.getBuilder(), b.getLoc(), getType(), int64_t(getAxis()));
  Value g = b.cotangent().value;
  b.addTo(0, over.mul(getY(), over.sub(g, over.spread(over.sum(over.mul(g, getY()))))));
  return success();
}

SmallVector<Value> LogSoftmaxOp::decompose(OpBuilder &b) {
  if (getType().getNumElements() == 0)
    return {getX()};
  AxisBuilder over(b, getLoc(), getType(), int64_t(getAxis()));
  Value s = shifted(over, getX());
  return {over.sub(s, over.spread(over.log(over.sum(over.exp(s)))))};
}

bool LogSoftmaxOp::keepWhole(Stage stage) { return stage == Stage::Autodiff; }

LogicalResult LogSoftmaxOp::buildAdjoint(AdjointBuilder &b) {
  if (!b.cotangent())
    return success();
  AxisBuilder over(b.getBuilder(), b.getLoc(), getType(), int64_t(getAxis()));
  Value g = b.cotangent().value;
  b.addTo(0, over.sub(g, over.mul(over.exp(getY()), over.spread(over.sum(g)))));
  return success();
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  int64_t axis = adaptor.getAxis();
  double eps = adaptor.getEps().convertToDouble();
  if (axis < 0 || axis >= type.getRank())
    return emitOptionalError(location, "expects axis in [0, ", type.getRank(), "), got ", axis);
  if (!(eps >= 0))
    return emitOptionalError(location, "expects eps of at least 0, got ", eps);
  RankedTensorType normalized = type.clone(type.getShape().drop_front(axis));
  for (Value affine : {adaptor.getWeight(), adaptor.getBias()})
    if (affine && affine.getType() != normalized)
      return emitOptionalError(location, "expects weight and bias of the normalized axes' type ", normalized, ", got ",
                               affine.getType());
  types.push_back(type);
  return success();
}

namespace {

/// What the value and the derivative of a layer_norm share: the same ops, so that they are computed once.
class NormalizedRows : public AxisBuilder {
public:
  NormalizedRows(OpBuilder &builder, LayerNormOp op)
      : AxisBuilder(builder, op.getLoc(), op.getType(), axesOf(op)), op(op) {
    Value x = op.getX();
    centered = sub(x, spread(correctedMean(x)));
    Value deviation = add(mean(mul(centered, centered)), op.getEps().convertToDouble());
    inverse = spread(rsqrt(deviation));
  }

  Value mean(Value x) { return div(sum(x), double(count())); }
  /// The normalized axes' values in every row.
  Value repeat(Value affine) { return BroadcastOp::create(getBuilder(), getLoc(), op.getType(), affine, axesOf(op)); }
  Value normalized() { return mul(centered, inverse); }
  /// 1 / sqrt(variance + eps), in the shape of x.
  Value inverseDeviation() { return inverse; }
  /// Over the rows.
  Value sumOfRows(Value x) {
    return ReduceSumOp::create(getBuilder(), getLoc(), x, llvm::to_vector(llvm::seq<int64_t>(0, op.getAxis())));
  }

private:
  static SmallVector<int64_t> axesOf(LayerNormOp op) {
    return llvm::to_vector(llvm::seq<int64_t>(op.getAxis(), op.getType().getRank()));
  }
  // A sum of n values rounds at its own size, n times theirs. Deviations from the mean it gives are small and exact, so
  // their mean corrects it to the last bit: deviations of a row of equal elements are 0, not eps-sized noise.
  Value correctedMean(Value x) {
    Value rough = mean(x);
    return add(rough, mean(sub(x, spread(rough))));
  }

  LayerNormOp op;
  Value centered, inverse;
};

} // namespace

SmallVector<Value> LayerNormOp::decompose(OpBuilder &b) {
  NormalizedRows rows(b, *this);
  Value y = rows.normalized();
  if (getWeight())
    y = rows.mul(y, rows.repeat(getWeight()));
  if (getBias())
    y = rows.add(y, rows.repeat(getBias()));
  return {y};
}

bool LayerNormOp::keepWhole(Stage stage) { return stage == Stage::Autodiff; }

LogicalResult LayerNormOp::buildAdjoint(AdjointBuilder &b) {
  if (!b.cotangent())
    return success();
  NormalizedRows rows(b.getBuilder(), *this);
  Value g = b.cotangent().value, n = rows.normalized();
  if (b.needs(0)) {
    Value h = getWeight() ? rows.mul(g, rows.repeat(getWeight())) : g;
    Value along = rows.mul(n, rows.spread(rows.mean(rows.mul(h, n))));
    Value across = rows.sub(rows.sub(h, rows.spread(rows.mean(h))), along);
    b.addTo(0, rows.mul(across, rows.inverseDeviation()));
  }
  unsigned operand = 1;
  if (getWeight() && b.needs(operand++))
    b.addTo(operand - 1, rows.sumOfRows(rows.mul(g, n)));
  if (getBias() && b.needs(operand))
    b.addTo(operand, rows.sumOfRows(g));
  return success();
}
