#include "dlc/ir/Attention.h"

#include "AxisBuilder.h"
#include "dlc/ir/MatMul.h"
#include "dlc/ir/Widen.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Attention.cpp.inc"

void DlDialect::addAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Attention.cpp.inc"
      >();
}

static constexpr double kLowest = -std::numeric_limits<double>::infinity();

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Scores and what sums them up keep the digits that 16 bits have not: an error of a score is one of its exponential.
static RankedTensorType wide(RankedTensorType type) {
  return hasNarrowFloats(type) ? type.clone(Float32Type::get(type.getContext())) : type;
}

// batch…, T, S
static SmallVector<int64_t> scoreShape(RankedTensorType q, RankedTensorType k) {
  SmallVector<int64_t> shape(q.getShape());
  shape.back() = k.getDimSize(k.getRank() - 2);
  return shape;
}

static LogicalResult checkOperands(std::optional<Location> location, RankedTensorType q, RankedTensorType k,
                                   RankedTensorType v) {
  for (RankedTensorType type : {q, k, v})
    if (type.getElementType() != q.getElementType() || type.getRank() != q.getRank() || type.getRank() < 2)
      return emitOptionalError(location, "expects q, k and v of one element type and one rank of at least 2, got ", q,
                               ", ", k, " and ", v);
  for (RankedTensorType type : {k, v})
    if (type.getShape().drop_back(2) != q.getShape().drop_back(2))
      return emitOptionalError(location, "expects equal batch dimensions of q, k and v, got ", q, ", ", k, " and ", v);
  if (q.getShape().back() != k.getShape().back())
    return emitOptionalError(location, "expects rows of q and k of one length, got ", q, " and ", k);
  if (k.getDimSize(k.getRank() - 2) != v.getDimSize(v.getRank() - 2))
    return emitOptionalError(location, "expects as many rows of v as of k, got ", v, " and ", k);
  return success();
}

// Each batch alone; rows and keys are whole.
ShardingRule AttentionOp::getShardingRule() {
  ShardingRule rule = ShardingRule::whole(*this);
  for (int64_t dim = 0; dim < typeOf(getQ()).getRank() - 2; ++dim) {
    unsigned factor = rule.addParallel(typeOf(getQ()).getDimSize(dim));
    for (auto *tensors : {&rule.operands, &rule.results})
      for (SmallVector<DimFactors> &dims : *tensors)
        dims[dim] = {factor};
  }
  return rule;
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType q = typeOf(adaptor.getQ()), k = typeOf(adaptor.getK()), v = typeOf(adaptor.getV());
  if (failed(checkOperands(location, q, k, v)))
    return failure();
  if (adaptor.getMask()) {
    RankedTensorType mask = typeOf(adaptor.getMask()), floats = q.clone(scoreShape(q, k));
    Type boolean = floats.clone(IntegerType::get(q.getContext(), 1));
    if (mask != floats && mask != boolean)
      return emitOptionalError(location, "expects a mask of type ", floats, " or ", boolean, ", got ", mask);
  }
  double scale = adaptor.getScale().convertToDouble();
  if (!std::isfinite(scale))
    return emitOptionalError(location, "expects a finite scale, got ", scale);
  SmallVector<int64_t> shape(q.getShape());
  types.push_back(wide(q.clone(ArrayRef(shape).drop_back())));
  shape.back() = v.getShape().back();
  types.insert(types.begin(), q.clone(shape));
  return success();
}

AttentionDims AttentionOp::getDims() {
  ArrayRef<int64_t> q = typeOf(getQ()).getShape(), v = typeOf(getV()).getShape();
  int64_t batch = 1;
  for (int64_t extent : q.drop_back(2))
    batch *= extent;
  return {batch, q[q.size() - 2], v[v.size() - 2], q.back(), v.back()};
}

namespace {

/// Scores and weights [batch…, T, S] of an attention, and products of tensors [batch…, rows, columns].
class Scores : public AxisBuilder {
public:
  Scores(OpBuilder &builder, AttentionOp op)
      : AxisBuilder(builder, op.getLoc(),
                    wide(typeOf(op.getQ()).clone(scoreShape(typeOf(op.getQ()), typeOf(op.getK())))),
                    typeOf(op.getQ()).getRank() - 1),
        op(op), rank(typeOf(op.getQ()).getRank()) {}

  /// In the type of the scores, and in that of q.
  Value widened(Value x) { return cast(x, wide(typeOf(x)).getElementType()); }
  Value narrowed(Value x) { return cast(x, typeOf(op.getQ()).getElementType()); }

  /// a and b contracted over dimensions counted from the end of the batch ones.
  Value product(Value a, Value b, int64_t aDim, int64_t bDim) {
    SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
    return DotGeneralOp::create(getBuilder(), getLoc(), a, b, batch, batch, ArrayRef<int64_t>{rank - 2 + aDim},
                                ArrayRef<int64_t>{rank - 2 + bDim});
  }

  Value scores() {
    Value s = mul(product(widened(op.getQ()), widened(op.getK()), 1, 1), op.getScale().convertToDouble());
    Value lowest = splat(kLowest, s);
    if (Value mask = op.getMask())
      s = hasFloatElements(mask.getType()) ? add(s, widened(mask)) : select(mask, s, lowest);
    if (op.getCausal()) {
      Type indices = typeOf(s).clone(getBuilder().getI32Type());
      Value i = IotaOp::create(getBuilder(), getLoc(), indices, rank - 2);
      Value j = IotaOp::create(getBuilder(), getLoc(), indices, rank - 1);
      s = select(le(j, i), s, lowest);
    }
    return s;
  }

  /// exp(s - lse), 0 in a row that attends to nothing.
  Value weights(Value s, Value lse) {
    Value shift = select(eq(lse, splat(kLowest, lse)), splat(0, lse), lse);
    return exp(sub(s, spread(shift)));
  }

private:
  AttentionOp op;
  int64_t rank;
};

} // namespace

SmallVector<Value> AttentionOp::decompose(OpBuilder &b) {
  Scores over(b, *this);
  if (!getDims().keys)
    return {over.splat(0, getY()), over.splat(kLowest, getLse())};
  Value s = over.scores();
  Value lse = LogSumExpOp::create(b, getLoc(), s, ArrayRef<int64_t>{typeOf(s).getRank() - 1});
  return {over.narrowed(over.product(over.weights(s, lse), over.widened(getV()), 1, 0)), lse};
}

bool AttentionOp::keepWhole(Stage) { return true; }
bool AttentionOp::acceptsEpilogue() { return false; }

int64_t AttentionOp::getFlops() {
  AttentionDims dims = getDims();
  return dims.batch * dims.queries * dims.keys * (dims.depth + dims.width);
}

LogicalResult AttentionOp::buildAdjoint(AdjointBuilder &b) {
  Value dy = b.cotangent(0).value, dlse = b.cotangent(1).value;
  if ((!dy && !dlse) || !getDims().keys)
    return success();
  Scores over(b.getBuilder(), *this);
  double scale = getScale().convertToDouble();
  Value weights = over.weights(over.scores(), getLse());
  if (dy && b.needs(2))
    b.addTo(2, over.product(over.narrowed(weights), dy, 0, 0));
  if (!b.needs(0) && !b.needs(1) && !(getMask() && b.needs(3)))
    return success();
  Value perRow = dlse, ds; // what every pair of a row gets, and what is its own
  if (dy) {
    Value wideDy = over.widened(dy);
    AxisBuilder row(b.getBuilder(), getLoc(), typeOf(wideDy), typeOf(dy).getRank() - 1);
    Value delta = row.sum(row.mul(wideDy, over.widened(getY())));
    perRow = dlse ? over.sub(dlse, delta) : over.neg(delta);
    ds = over.product(wideDy, over.widened(getV()), 1, 1);
  }
  ds = over.mul(weights, ds ? over.add(ds, over.spread(perRow)) : over.spread(perRow));
  ds = over.narrowed(ds);
  if (b.needs(0))
    b.addTo(0, over.mul(over.product(ds, getK(), 1, 0), scale));
  if (b.needs(1))
    b.addTo(1, over.mul(over.product(ds, getQ(), 0, 0), scale));
  if (getMask() && b.needs(3))
    b.addTo(3, ds);
  return success();
}
