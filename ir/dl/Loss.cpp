#include "dlc/ir/Loss.h"

#include "AxisBuilder.h"
#include "dlc/ir/Norm.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Loss.cpp.inc"

void DlDialect::addLossOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Loss.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType logits = typeOf(adaptor.getLogits()), target = typeOf(adaptor.getTarget());
  if (logits.getRank() != 2)
    return emitOptionalError(location, "expects logits of rank 2 (rows, classes), got ", logits);
  if (target.getShape() != logits.getShape().take_front())
    return emitOptionalError(location, "expects one target a row of ", logits, ", got ", target);
  if (logits.getDimSize(1) < 1)
    return emitOptionalError(location, "expects at least one class, got ", logits);
  double smoothing = adaptor.getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing <= 1))
    return emitOptionalError(location, "expects label_smoothing in [0, 1], got ", smoothing);
  bool rows = adaptor.getReduction() == LossReduction::None;
  types.push_back(logits.clone(rows ? target.getShape() : ArrayRef<int64_t>()));
  return success();
}

LogicalResult MseOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  types.push_back(adaptor.getReduction() == LossReduction::None ? type : type.clone(ArrayRef<int64_t>()));
  return success();
}

namespace {

/// What the value and the derivative of a cross-entropy share.
class RowsOfClasses : public AxisBuilder {
public:
  RowsOfClasses(OpBuilder &builder, CrossEntropyOp op)
      : AxisBuilder(builder, op.getLoc(), typeOf(op.getLogits()), int64_t(1)), op(op), logits(typeOf(op.getLogits())) {}

  double smoothing() { return op.getLabelSmoothing().convertToDouble(); }
  int64_t classes() { return logits.getDimSize(1); }

  /// [N] i1: rows that count.
  Value counted() {
    Value t = op.getTarget();
    Value inRange = logicalAnd(ge(t, splat(0, t)), lt(t, splat(double(classes()), t)));
    return logicalAnd(inRange, ne(t, splat(double(int64_t(op.getIgnoreIndex())), t)));
  }
  /// [N, C] i1: the target's place in each row.
  Value isTarget() {
    Value target = spread(op.getTarget());
    return eq(IotaOp::create(getBuilder(), getLoc(), typeOf(target), 1), target);
  }
  /// Rank 0: how many rows count.
  Value countOf(Value counted) {
    return ReduceSumOp::create(getBuilder(), getLoc(), TensorBuilder::cast(counted, logits.getElementType()),
                               ArrayRef<int64_t>{0});
  }

private:
  CrossEntropyOp op;
  RankedTensorType logits;
};

} // namespace

SmallVector<Value> CrossEntropyOp::decompose(OpBuilder &b) {
  RowsOfClasses rows(b, *this);
  Value logp = LogSoftmaxOp::create(b, getLoc(), getLogits(), 1);
  Value loss = rows.neg(rows.sum(rows.select(rows.isTarget(), logp, rows.splat(0, logp))));
  if (double s = rows.smoothing())
    loss = rows.add(rows.mul(loss, 1 - s), rows.mul(rows.sum(logp), -s / double(rows.classes())));
  Value counted = rows.counted();
  loss = rows.select(counted, loss, rows.splat(0, loss));
  if (getReduction() == LossReduction::None)
    return {loss};
  Value total = ReduceSumOp::create(b, getLoc(), loss, ArrayRef<int64_t>{0});
  return {getReduction() == LossReduction::Sum ? total : rows.div(total, rows.countOf(counted))};
}

bool CrossEntropyOp::keepWhole(Stage stage) { return stage == Stage::Autodiff; }

// d loss[i] / d logits[i] = softmax - ((1 - s) onehot + s / C), on the rows that count.
LogicalResult CrossEntropyOp::buildAdjoint(AdjointBuilder &b) {
  if (!b.cotangent())
    return success();
  OpBuilder &builder = b.getBuilder();
  RowsOfClasses rows(builder, *this);
  Value counted = rows.counted();
  Cotangent g = b.cotangent();
  if (getReduction() == LossReduction::Mean)
    g = b.divide(g, rows.countOf(counted));
  if (getReduction() != LossReduction::None) {
    AxisBuilder all(builder, getLoc(), typeOf(getLogits()).clone(typeOf(getTarget()).getShape()), int64_t(0));
    g = all.spread(g);
  }
  Value softmax = SoftmaxOp::create(builder, getLoc(), getLogits(), 1);
  double s = rows.smoothing(), other = s / double(rows.classes());
  Value wanted = rows.select(rows.isTarget(), rows.splat(1 - s + other, softmax), rows.splat(other, softmax));
  b.addTo(0, b.scale(rows.spread(b.route(counted, g)), rows.sub(softmax, wanted)));
  return success();
}

SmallVector<Value> MseOp::decompose(OpBuilder &b) {
  RankedTensorType type = typeOf(getX());
  AxisBuilder over(b, getLoc(), type, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  Value d = over.sub(getX(), getTarget()), squares = over.mul(d, d);
  if (getReduction() == LossReduction::None)
    return {squares};
  Value total = over.sum(squares);
  return {getReduction() == LossReduction::Sum ? total : over.div(total, double(over.count()))};
}
