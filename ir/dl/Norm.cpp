#include "dlc/ir/Norm.h"

#include "AxisBuilder.h"

#include <tuple>

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

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  double eps = adaptor.getEps().convertToDouble();
  if (type.getRank() < 2)
    return emitOptionalError(location, "expects x of rank 2 or more, got ", type);
  if (!(eps >= 0))
    return emitOptionalError(location, "expects eps of at least 0, got ", eps);
  RankedTensorType channels = type.clone(type.getShape().slice(1, 1));
  for (Value value : {adaptor.getWeight(), adaptor.getBias(), adaptor.getMean(), adaptor.getVar()})
    if (value && value.getType() != channels)
      return emitOptionalError(location, "expects weight, bias, mean and var of type ", channels, ", got ",
                               value.getType());
  if (!adaptor.getMean() != !adaptor.getVar())
    return emitOptionalError(location, "expects mean and var together, got ", adaptor.getMean() ? "mean" : "var",
                             " alone");
  types.push_back(type);
  if (!adaptor.getMean())
    types.append(2, channels);
  return success();
}

namespace {

/// What the value and the derivative of a batch_norm share, from the statistics on.
class NormalizedChannels : public AxisBuilder {
public:
  NormalizedChannels(OpBuilder &builder, BatchNormOp op)
      : AxisBuilder(builder, op.getLoc(), cast<RankedTensorType>(op.getX().getType()), axesOf(op)), op(op) {}

  void setStatistics(Value mean, Value var) {
    centered = sub(op.getX(), spread(mean));
    inverse = rsqrt(add(var, op.getEps().convertToDouble()));
  }
  /// What x is multiplied with, by channel.
  Value slope() { return op.getWeight() ? mul(inverse, op.getWeight()) : inverse; }

  /// x - mean.
  Value centered;
  /// 1 / sqrt(var + eps), by channel.
  Value inverse;

private:
  static SmallVector<int64_t> axesOf(BatchNormOp op) {
    SmallVector<int64_t> axes{0};
    llvm::append_range(axes, llvm::seq<int64_t>(2, cast<RankedTensorType>(op.getX().getType()).getRank()));
    return axes;
  }
  BatchNormOp op;
};

} // namespace

/// Mean and variance of x by channel. The sums of the second pass correct the rounding of the first.
static std::pair<Value, Value> statisticsOf(NormalizedChannels &over, Value x) {
  Value rough = over.mean(x), deviation = over.sub(x, over.spread(rough)), shift = over.mean(deviation);
  Value var = over.sub(over.mean(over.mul(deviation, deviation)), over.mul(shift, shift));
  return {over.add(rough, shift), over.maximum(var, over.splat(0, var))};
}

SmallVector<Value> BatchNormOp::decompose(OpBuilder &b) {
  NormalizedChannels over(b, *this);
  Value mean = getMean(), var = getVar();
  if (isTraining())
    std::tie(mean, var) = statisticsOf(over, getX());
  over.setStatistics(mean, var);
  Value y = over.mul(over.centered, over.spread(over.inverse));
  if (getWeight())
    y = over.mul(y, over.spread(getWeight()));
  if (getBias())
    y = over.add(y, over.spread(getBias()));
  return isTraining() ? SmallVector<Value>{y, mean, var} : SmallVector<Value>{y};
}

bool BatchNormOp::keepWhole(Stage stage) { return stage == Stage::Autodiff; }

LogicalResult BatchNormOp::buildAdjoint(AdjointBuilder &b) {
  NormalizedChannels over(b.getBuilder(), *this);
  ValueRange statistics = getStatistics();
  if (!isTraining())
    statistics = getOperands().take_back(2);
  over.setStatistics(statistics[0], statistics[1]);
  auto add = [&](unsigned argument, llvm::function_ref<Value()> contribution) {
    auto [operand, given] = getODSOperandIndexAndLength(argument);
    if (given && b.needs(operand))
      b.addTo(operand, contribution());
  };
  if (Value g = b.cotangent().value) {
    Value sum = over.sum(g), slope = over.slope();
    Value along = over.mul(over.sum(over.mul(g, over.centered)), over.inverse); // of g times the normalized x
    auto share = [&](Value total) { return over.spread(over.div(total, double(over.count()))); };
    add(0, [&] {
      if (isTraining())
        g = over.sub(over.sub(g, share(sum)), over.mul(over.centered, share(over.mul(along, over.inverse))));
      return over.mul(g, over.spread(slope));
    });
    add(1, [&] { return along; });
    add(2, [&] { return sum; });
    add(3, [&] { return over.neg(over.mul(sum, slope)); });
    add(4, [&] { return over.mul(over.mul(along, over.mul(slope, over.inverse)), -0.5); });
  }
  if (!isTraining())
    return success();
  if (Value g = b.cotangent(1).value)
    add(0, [&] { return over.spread(over.div(g, double(over.count()))); });
  if (Value g = b.cotangent(2).value)
    add(0, [&] { return over.mul(over.centered, over.spread(over.mul(g, 2.0 / double(over.count())))); });
  return success();
}
