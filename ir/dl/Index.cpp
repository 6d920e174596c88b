#include "dlc/ir/Index.h"

#include "Axes.h"
#include "Leaves.h"
#include "dlc/ir/Constant.h"
#include "dlc/ir/DlAttrs.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Shape.h"
#include "dlc/ir/TensorBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Index.cpp.inc"

void DlDialect::addIndexOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Index.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static FailureOr<RankedTensorType> inferGathered(std::optional<Location> location, RankedTensorType x,
                                                 RankedTensorType indices, int64_t axis, int64_t batchDims) {
  if (!x.hasStaticShape() || !indices.hasStaticShape())
    return emitOptionalError(location, "expects static shapes, got ", x, " and ", indices);
  if (failed(checkAxes(location, "axis", axis, x.getRank())))
    return failure();
  int64_t most = std::min(axis, indices.getRank());
  if (batchDims < 0 || batchDims > most)
    return emitOptionalError(location, "expects batch_dims in [0, ", most, "], got ", batchDims);
  for (int64_t dim = 0; dim < batchDims; ++dim)
    if (x.getDimSize(dim) != indices.getDimSize(dim))
      return emitOptionalError(location, "expects equal batch dimensions, got ", x.getDimSize(dim), " and ",
                               indices.getDimSize(dim), " on dimension ", dim);
  SmallVector<int64_t> shape(x.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape().drop_front(batchDims));
  llvm::append_range(shape, x.getShape().drop_front(axis + 1));
  return x.clone(shape);
}

// gather

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> gathered = inferGathered(location, typeOf(adaptor.getX()), typeOf(adaptor.getIndices()),
                                                       adaptor.getAxis(), adaptor.getBatchDims());
  if (failed(gathered))
    return failure();
  types.push_back(*gathered);
  return success();
}

namespace {

/// The dims of a gathered tensor: batch and outer ones before `axis`, `places` ones, inner ones.
struct GatheredDims {
  GatheredDims(int64_t axis, int64_t batchDims, RankedTensorType indices)
      : axis(axis), batchDims(batchDims), places(indices.getRank() - batchDims) {}

  /// Those along which the index is looked up, in the order of the indices' dims.
  SmallVector<int64_t> ofIndices() const {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, batchDims));
    llvm::append_range(dims, llvm::seq<int64_t>(axis, axis + places));
    return dims;
  }

  int64_t axis, batchDims, places;
};

} // namespace

IndirectSource GatherOp::getIndirectSource() {
  int64_t rank = getType().getRank();
  GatheredDims dims(getAxis(), getBatchDims(), getIndices().getType());
  SmallVector<AffineExpr> ofIndices, ofX;
  for (int64_t dim : dims.ofIndices())
    ofIndices.push_back(getAffineDimExpr(dim, getContext()));
  for (int64_t dim = 0; dim < getX().getType().getRank(); ++dim) {
    int64_t from = dim < dims.axis ? dim : dim == dims.axis ? rank : dim - 1 + dims.places;
    ofX.push_back(getAffineDimExpr(from, getContext()));
  }
  return {0, 1, AffineMap::get(rank, 0, ofIndices, getContext()), AffineMap::get(rank + 1, 0, ofX, getContext()),
          getX().getType().getDimSize(dims.axis)};
}

namespace {

/// What the adjoints of gather and scatter share.
class IndexAdjoint {
public:
  template <typename OpTy>
  IndexAdjoint(AdjointBuilder &b, OpTy op)
      : b(b), t(b.tensors()), x(op.getX().getType()), indices(op.getIndices()), axis(op.getAxis()),
        batchDims(op.getBatchDims()) {}

  /// Cotangent of x when each place of x went to all its indices.
  Cotangent scattered(Cotangent g) {
    Value value = add(zeros(x), g.value);
    if (!g.mask)
      return {value, {}};
    // A place counts where any of what it receives does.
    Type i32 = b.getBuilder().getI32Type();
    Value count = add(zeros(x.clone(i32)), t.cast(g.mask, i32));
    return {value, t.ne(count, zeros(x.clone(i32)))};
  }

  Cotangent gathered(Cotangent g) { return {gather(g.value), g.mask ? gather(g.mask) : Value()}; }

  /// Whether the index of each update is inside.
  Value isInside() {
    Type type = indices.getType();
    return t.logicalAnd(t.ge(indices, t.splat(0, type)), t.lt(indices, t.splat(double(x.getDimSize(axis)), type)));
  }

  /// For each place along the axis, the number (from 1) of the update that is put there last, 0 if none.
  Value lastUpdates(Value numbers) {
    SmallVector<int64_t> shape(x.getShape().take_front(batchDims));
    shape.push_back(x.getDimSize(axis));
    Value none = zeros(RankedTensorType::get(shape, getElementTypeOrSelf(numbers.getType())));
    return ScatterOp::create(b.getBuilder(), b.getLoc(), none, indices, numbers, batchDims, batchDims,
                             ScatterKind::Set);
  }
  Value atIndices(Value ofPlaces) {
    return GatherOp::create(b.getBuilder(), b.getLoc(), ofPlaces, indices, batchDims, batchDims);
  }
  /// Updates counted from 1, in the shape of the indices.
  Value numbers() {
    OpBuilder &builder = b.getBuilder();
    RankedTensorType type = typeOf(indices);
    auto flat = RankedTensorType::get({type.getNumElements()}, builder.getI64Type());
    Value counted = t.add(IotaOp::create(builder, b.getLoc(), flat, 0), 1);
    return builder.createOrFold<ReshapeOp>(b.getLoc(), type.clone(builder.getI64Type()), counted);
  }

  /// A predicate of the indices, for each update.
  Value ofUpdates(Value predicate, RankedTensorType updates) {
    SmallVector<int64_t> dims = GatheredDims(axis, batchDims, typeOf(indices)).ofIndices();
    return spread(predicate, updates, dims);
  }
  /// A predicate of the places along the axis, for each element of x.
  Value ofX(Value predicate) {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, batchDims));
    dims.push_back(axis);
    return spread(predicate, x, dims);
  }

private:
  Value zeros(RankedTensorType type) { return t.splat(0, type); }
  Value add(Value to, Value updates) {
    return ScatterOp::create(b.getBuilder(), b.getLoc(), to, indices, updates, axis, batchDims, ScatterKind::Add);
  }
  Value gather(Value from) { return GatherOp::create(b.getBuilder(), b.getLoc(), from, indices, axis, batchDims); }
  Value spread(Value predicate, RankedTensorType type, ArrayRef<int64_t> dims) {
    return b.getBuilder().createOrFold<BroadcastOp>(b.getLoc(), type.clone(b.getBuilder().getI1Type()), predicate,
                                                    dims);
  }

  AdjointBuilder &b;
  TensorBuilder t;
  RankedTensorType x;
  Value indices;
  int64_t axis, batchDims;
};

} // namespace

LogicalResult GatherOp::buildAdjoint(AdjointBuilder &b) {
  if (b.cotangent())
    b.addTo(0, IndexAdjoint(b, *this).scattered(b.cotangent()));
  return success();
}

// scatter

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType x = typeOf(adaptor.getX());
  FailureOr<RankedTensorType> gathered =
      inferGathered(location, x, typeOf(adaptor.getIndices()), adaptor.getAxis(), adaptor.getBatchDims());
  if (failed(gathered))
    return failure();
  if (adaptor.getUpdates().getType() != *gathered)
    return emitOptionalError(location, "expects updates of the gathered type ", *gathered, ", got ",
                             adaptor.getUpdates().getType());
  if (adaptor.getKind() == ScatterKind::Add && x.getElementType().isInteger(1))
    return emitOptionalError(location, "expects numbers to add, got ", x, "; use kind(set)");
  types.push_back(x);
  return success();
}

// Batch, outer and inner dims are loops. Updates may be added in parts: then x counts on one member.
ShardingRule ScatterOp::getShardingRule() {
  ShardingRule rule = ShardingRule::whole(*this);
  SmallVector<DimFactors> &x = rule.operands[0], &indices = rule.operands[1], &updates = rule.operands[2];
  RankedTensorType type = getType();
  int64_t axis = getAxis(), batchDims = getBatchDims(), places = getIndices().getType().getRank() - batchDims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim == axis)
      continue;
    x[dim] = rule.results[0][dim] =
        updates[dim < axis ? dim : dim - 1 + places] = {rule.addParallel(type.getDimSize(dim))};
    if (dim < batchDims)
      indices[dim] = x[dim];
  }
  if (getKind() == ScatterKind::Add)
    for (int64_t place = 0; place < places; ++place)
      indices[batchDims + place] = updates[axis + place] = {
          rule.addReduce(getIndices().getType().getDimSize(batchDims + place), ReduceKind::Sum)};
  return rule;
}

/// An index outside leaves its update out.
TypedAttr ScatterOp::getNeutral(unsigned operand, ReduceKind) {
  return operand == 1 ? IntegerAttr::get(getIndices().getType().getElementType(), -1) : TypedAttr();
}

bool ScatterOp::isLinearIn(unsigned operand) {
  return operand == 2 && getKind() == ScatterKind::Add &&
         (matchPattern(getX(), m_AnyZeroFloat()) || matchPattern(getX(), m_Zero()));
}

void ScatterOp::partitionLocal(PartitionBuilder &b) {
  for (int64_t dim = getBatchDims(); dim < getIndices().getType().getRank(); ++dim)
    if (b.getOperandSharding(1).isSplit(dim))
      getXMutable().assign(b.onFirstMember(getX(), 1, dim));
  bool hasPlaces = getIndices().getType().getRank() > 0;
  if (LeafSplit leaves = hasPlaces && getBatchDims() == 0 && getAxis() == 0 ? b.getLeaves(1, 0) : LeafSplit())
    addInLeaves(b, leaves);
}

/// Leaves become a batch dim; what was there before counts in the first.
void ScatterOp::addInLeaves(PartitionBuilder &b, LeafSplit leaves) {
  OpBuilder before(*this);
  Type element = getElementTypeOrSelf(getType());
  auto scalar = RankedTensorType::get({}, element);
  SmallVector<int64_t> shape(getType().getShape());
  shape.insert(shape.begin(), 1);
  RankedTensorType one = getType().clone(shape);
  shape.front() = leaves.count;
  RankedTensorType all = getType().clone(shape);
  Value zero = ConstantOp::create(before, getLoc(), cast<ElementsAttr>(before.getZeroAttr(scalar)));
  if (matchPattern(getX(), m_AnyZeroFloat())) {
    getXMutable().assign(BroadcastOp::create(before, getLoc(), all, zero, ArrayRef<int64_t>{}));
  } else {
    SmallVector<int64_t> none(all.getRank(), 0), behind(none);
    behind.front() = leaves.count - 1;
    Value first = before.createOrFold<ReshapeOp>(getLoc(), one, getX());
    getXMutable().assign(PadOp::create(before, getLoc(), first, zero, none, behind, none));
  }
  TypedAttr nowhere = getNeutral(1, ReduceKind::Sum), nothing = cast<TypedAttr>(before.getZeroAttr(element));
  getIndicesMutable().assign(cutIntoLeaves(before, getIndices(), 0, leaves, nowhere));
  getUpdatesMutable().assign(cutIntoLeaves(before, getUpdates(), 0, leaves, nothing));
  setBatchDims(1);
  setAxis(1);
  getY().setType(all);
  b.replaceResult(cast<OpResult>(getY()), addLeaves(b.getBuilder(), getY(), 0));
}

static int64_t product(ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

GatherDims ScatterOp::getDims() {
  ArrayRef<int64_t> x = getType().getShape();
  int64_t axis = getAxis(), batchDims = getBatchDims();
  return {product(x.take_front(batchDims)), product(x.slice(batchDims, axis - batchDims)), x[axis],
          product(x.drop_front(axis + 1)), product(getIndices().getType().getShape().drop_front(batchDims))};
}

bool ScatterOp::acceptsEpilogue() { return false; }
int64_t ScatterOp::getFlops() { return getUpdates().getType().getNumElements(); }

LogicalResult ScatterOp::buildAdjoint(AdjointBuilder &b) {
  Cotangent g = b.cotangent();
  if (!g)
    return success();
  IndexAdjoint adjoint(b, *this);
  TensorBuilder t = b.tensors();
  RankedTensorType updates = getUpdates().getType();
  if (getKind() == ScatterKind::Add) {
    b.addTo(0, g);
    if (b.needs(2))
      b.addTo(2, b.route(adjoint.ofUpdates(adjoint.isInside(), updates), adjoint.gathered(g)));
    return success();
  }
  // Numbers from 1, since an index outside gathers 0.
  Value numbers = adjoint.numbers(), last = adjoint.lastUpdates(numbers);
  if (b.needs(0))
    b.addTo(0, b.route(adjoint.ofX(t.eq(last, t.splat(0, last))), g));
  if (b.needs(2))
    b.addTo(2, b.route(adjoint.ofUpdates(t.eq(adjoint.atIndices(last), numbers), updates), adjoint.gathered(g)));
  return success();
}
