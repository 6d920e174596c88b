#include "dlc/ir/Shape.h"

#include "Axes.h"
#include "dlc/ir/Constant.h"
#include "dlc/ir/DlAttrs.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Reduce.h"
#include "dlc/ir/TensorBuilder.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Shape.cpp.inc"

void DlDialect::addShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Shape.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static SmallVector<AffineExpr> dimsOf(MLIRContext *context, int64_t rank) {
  SmallVector<AffineExpr> dims(rank);
  for (int64_t i = 0; i < rank; ++i)
    dims[i] = getAffineDimExpr(i, context);
  return dims;
}

static AffineMap mapTo(RankedTensorType result, ArrayRef<AffineExpr> exprs) {
  return AffineMap::get(result.getRank(), 0, exprs, result.getContext());
}

static SmallVector<IndexSource> onlySource(RankedTensorType result, ArrayRef<AffineExpr> exprs) {
  return {IndexSource{0, mapTo(result, exprs), {}}};
}

static SmallVector<int64_t> axesExcept(int64_t rank, ArrayRef<int64_t> kept) {
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(kept, axis))
      axes.push_back(axis);
  return axes;
}

/// Moves a cotangent and its mask by the same function.
static Cotangent move(Cotangent g, function_ref<Value(Value)> moved) {
  return g ? Cotangent{moved(g.value), g.mask ? moved(g.mask) : Value()} : g;
}

static Value zeroLike(AdjointBuilder &b, Value value) {
  auto scalar = RankedTensorType::get({}, typeOf(value).getElementType());
  return ConstantOp::createSplat(b.getBuilder(), b.getLoc(), scalar, 0.0);
}

// reshape

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = typeOf(getX()), to = getType();
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return emitOpError("expects static shapes, got ") << from << " and " << to;
  if (from.getElementType() != to.getElementType() || from.getNumElements() != to.getNumElements())
    return emitOpError("expects as many elements of one type, got ") << from << " and " << to;
  return success();
}

/// Linear positions are compared over runs of dimensions: where a prefix of both shapes has equal products, the split
/// or merge stays inside the run, and its expression needs no other dimension.
static SmallVector<AffineExpr> reshapeExprs(RankedTensorType from, RankedTensorType to) {
  MLIRContext *context = from.getContext();
  ArrayRef<int64_t> source = from.getShape(), target = to.getShape();
  SmallVector<AffineExpr> exprs;
  if (from.getNumElements() == 0) {
    exprs.assign(from.getRank(), getAffineConstantExpr(0, context));
    return exprs;
  }
  size_t s = 0, t = 0;
  while (s < source.size()) {
    // Extents of 1 need no run of their own.
    if (source[s] == 1) {
      exprs.push_back(getAffineConstantExpr(0, context));
      ++s;
      continue;
    }
    size_t sEnd = s + 1, tEnd = t;
    int64_t sCount = source[s], tCount = 1;
    while (sCount != tCount) {
      if (tCount < sCount)
        tCount *= target[tEnd++];
      else
        sCount *= source[sEnd++];
    }
    AffineExpr linear = getAffineConstantExpr(0, context);
    for (size_t i = t; i < tEnd; ++i)
      if (target[i] != 1)
        linear = linear * target[i] + getAffineDimExpr(i, context);
    int64_t stride = sCount;
    for (size_t i = s; i < sEnd; ++i) {
      stride /= source[i];
      AffineExpr expr = linear.floorDiv(stride);
      bool outermost = stride * source[i] == sCount;
      exprs.push_back(outermost ? expr : expr % source[i]);
    }
    s = sEnd;
    t = tEnd;
  }
  return exprs;
}

SmallVector<IndexSource> ReshapeOp::getIndexSources() {
  return onlySource(getType(), reshapeExprs(typeOf(getX()), getType()));
}

LogicalResult ReshapeOp::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, move(b.cotangent(), [&](Value g) -> Value {
            return ReshapeOp::create(b.getBuilder(), b.getLoc(), typeOf(getX()).clone(typeOf(g).getElementType()), g);
          }));
  return success();
}

bool ReshapeOp::passesPartial(unsigned, ReduceKind) { return true; }

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX()))
    return elements.reshape(getType());
  if (auto producer = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().assign(producer.getX());
    return getResult();
  }
  return {};
}

// transpose

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (failed(checkCount(location, "permutation", permutation, type.getRank())) ||
      failed(checkAxes(location, "permutation", permutation, type.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  types.push_back(type.clone(shape));
  return success();
}

static SmallVector<int64_t> inverseOf(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [i, dim] : llvm::enumerate(permutation))
    inverse[dim] = i;
  return inverse;
}

SmallVector<IndexSource> TransposeOp::getIndexSources() {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : inverseOf(getPermutation()))
    exprs.push_back(getAffineDimExpr(dim, getContext()));
  return onlySource(getType(), exprs);
}

LogicalResult TransposeOp::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, move(b.cotangent(), [&](Value g) -> Value {
            return TransposeOp::create(b.getBuilder(), b.getLoc(), g, inverseOf(getPermutation()));
          }));
  return success();
}

bool TransposeOp::passesPartial(unsigned, ReduceKind) { return true; }

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getPermutation().size())))
    return getX();
  if (auto elements = dyn_cast_or_null<SplatElementsAttr>(adaptor.getX()))
    return elements.resizeSplat(getType());
  auto producer = getX().getDefiningOp<TransposeOp>();
  if (!producer)
    return {};
  SmallVector<int64_t> composed;
  for (int64_t dim : getPermutation())
    composed.push_back(producer.getPermutation()[dim]);
  setPermutation(composed);
  getXMutable().assign(producer.getX());
  return getResult();
}

// broadcast

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = typeOf(getX()), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError("expects one element type, got ") << from << " and " << to;
  if (int64_t(getDims().size()) != from.getRank())
    return emitOpError("expects ") << from.getRank() << " entries in dims, got " << getDims().size();
  int64_t previous = -1;
  for (auto [i, dim] : llvm::enumerate(getDims())) {
    if (dim < 0 || dim >= to.getRank())
      return emitOpError("expects dims in [0, ") << to.getRank() << "), got " << dim;
    if (dim <= previous)
      return emitOpError("expects dims ascending, got ") << dim << " after " << previous << "; use dl.transpose";
    previous = dim;
    if (from.getDimSize(i) != 1 && from.getDimSize(i) != to.getDimSize(dim))
      return emitOpError("expects dimension ")
             << i << " of extent 1 or " << to.getDimSize(dim) << ", got " << from.getDimSize(i);
  }
  return success();
}

SmallVector<IndexSource> BroadcastOp::getIndexSources() {
  RankedTensorType from = typeOf(getX());
  SmallVector<AffineExpr> exprs;
  for (auto [i, dim] : llvm::enumerate(getDims()))
    exprs.push_back(from.getDimSize(i) == 1 ? getAffineConstantExpr(0, getContext())
                                            : getAffineDimExpr(dim, getContext()));
  return onlySource(getType(), exprs);
}

LogicalResult BroadcastOp::buildAdjoint(AdjointBuilder &b) {
  RankedTensorType from = typeOf(getX()), to = getType();
  SmallVector<int64_t> kept;
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (from.getDimSize(i) == to.getDimSize(dim))
      kept.push_back(dim);
  SmallVector<int64_t> axes = axesExcept(to.getRank(), kept);
  b.addTo(0, move(b.cotangent(), [&](Value g) -> Value {
            bool mask = typeOf(g).getElementType().isInteger(1);
            if (!axes.empty())
              g = mask ? Value(ReduceOrOp::create(b.getBuilder(), b.getLoc(), g, axes))
                       : Value(ReduceSumOp::create(b.getBuilder(), b.getLoc(), g, axes));
            return b.getBuilder().createOrFold<ReshapeOp>(b.getLoc(), from.clone(typeOf(g).getElementType()), g);
          }));
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto elements = dyn_cast_or_null<SplatElementsAttr>(adaptor.getX()))
    return elements.resizeSplat(getType());
  auto producer = getX().getDefiningOp<BroadcastOp>();
  if (!producer)
    return {};
  SmallVector<int64_t> composed;
  for (int64_t dim : producer.getDims())
    composed.push_back(getDims()[dim]);
  setDims(composed);
  getXMutable().assign(producer.getX());
  return getResult();
}

// slice

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  int64_t rank = type.getRank();
  if (failed(checkAtLeast(location, "starts", adaptor.getStarts(), rank, 0)) ||
      failed(checkCount(location, "limits", adaptor.getLimits(), rank)) ||
      failed(checkAtLeast(location, "strides", adaptor.getStrides(), rank, 1)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t start = adaptor.getStarts()[dim], limit = adaptor.getLimits()[dim], extent = type.getDimSize(dim);
    if (start > limit || limit > extent)
      return emitOptionalError(location, "expects start <= limit <= ", extent, " on axis ", dim, ", got ", start,
                               " and ", limit);
    shape.push_back(llvm::divideCeil(uint64_t(limit - start), uint64_t(adaptor.getStrides()[dim])));
  }
  types.push_back(type.clone(shape));
  return success();
}

SmallVector<IndexSource> SliceOp::getIndexSources() {
  SmallVector<AffineExpr> exprs = dimsOf(getContext(), getType().getRank());
  for (auto [expr, start, stride] : llvm::zip(exprs, getStarts(), getStrides()))
    expr = expr * stride + start;
  return onlySource(getType(), exprs);
}

LogicalResult SliceOp::buildAdjoint(AdjointBuilder &b) {
  SmallVector<int64_t> hi, interior;
  for (auto [dim, extent] : llvm::enumerate(getType().getShape())) {
    int64_t covered = extent ? (extent - 1) * getStrides()[dim] + 1 : 0;
    hi.push_back(typeOf(getX()).getDimSize(dim) - getStarts()[dim] - covered);
    interior.push_back(getStrides()[dim] - 1);
  }
  b.addTo(0, move(b.cotangent(), [&](Value g) -> Value {
            return PadOp::create(b.getBuilder(), b.getLoc(), g, zeroLike(b, g), getStarts(), hi, interior);
          }));
  return success();
}

bool SliceOp::passesPartial(unsigned, ReduceKind) { return true; }

// A dim that is split is taken whole.
void SliceOp::partitionLocal(PartitionBuilder &b) {
  SmallVector<int64_t> limits(getLimits());
  for (auto [dim, limit] : llvm::enumerate(limits))
    if (b.getResultSharding(0).isSplit(dim))
      limit = getType().getDimSize(dim);
  setLimits(limits);
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto elements = dyn_cast_or_null<SplatElementsAttr>(adaptor.getX()))
    return elements.resizeSplat(getType());
  auto producer = getX().getDefiningOp<SliceOp>();
  if (!producer)
    return {};
  SmallVector<int64_t> starts, limits, strides;
  for (auto [dim, extent] : llvm::enumerate(getType().getShape())) {
    int64_t outer = producer.getStrides()[dim];
    starts.push_back(producer.getStarts()[dim] + getStarts()[dim] * outer);
    strides.push_back(getStrides()[dim] * outer);
    limits.push_back(extent ? starts.back() + (extent - 1) * strides.back() + 1 : starts.back());
  }
  // An empty slice may start behind the producer's last element, beyond the operand.
  for (auto [dim, start] : llvm::enumerate(starts))
    if (start > typeOf(producer.getX()).getDimSize(dim))
      return {};
  setStarts(starts);
  setLimits(limits);
  setStrides(strides);
  getXMutable().assign(producer.getX());
  return getResult();
}

// pad

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  if (adaptor.getValue().getType() != scalar)
    return emitOptionalError(location, "expects a value of type ", scalar, ", got ", adaptor.getValue().getType());
  int64_t rank = type.getRank();
  if (failed(checkAtLeast(location, "lo", adaptor.getLo(), rank, 0)) ||
      failed(checkAtLeast(location, "hi", adaptor.getHi(), rank, 0)) ||
      failed(checkAtLeast(location, "interior", adaptor.getInterior(), rank, 0)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t extent = type.getDimSize(dim);
    int64_t spread = extent ? extent + (extent - 1) * adaptor.getInterior()[dim] : 0;
    shape.push_back(adaptor.getLo()[dim] + spread + adaptor.getHi()[dim]);
  }
  types.push_back(type.clone(shape));
  return success();
}

SmallVector<IndexSource> PadOp::getIndexSources() {
  RankedTensorType from = typeOf(getX());
  IndexSource inside{0, {}, {}};
  SmallVector<AffineExpr> exprs;
  for (auto [dim, extent] : llvm::enumerate(from.getShape())) {
    AffineExpr shifted = getAffineDimExpr(dim, getContext()) - getLo()[dim];
    int64_t step = getInterior()[dim] + 1;
    AffineExpr position = shifted.floorDiv(step);
    exprs.push_back(position);
    if (getLo()[dim] || getHi()[dim])
      inside.bounds.push_back({position, 0, extent});
    if (step > 1)
      inside.bounds.push_back({shifted % step, 0, 1});
  }
  inside.map = mapTo(getType(), exprs);
  if (inside.bounds.empty())
    return {inside};
  return {inside, IndexSource{1, mapTo(getType(), {}), {}}};
}

bool PadOp::isLinearIn(unsigned operand) {
  return operand == 0 && (matchPattern(getValue(), m_AnyZeroFloat()) || matchPattern(getValue(), m_Zero()));
}

LogicalResult PadOp::buildAdjoint(AdjointBuilder &b) {
  RankedTensorType from = typeOf(getX());
  SmallVector<int64_t> limits, strides;
  for (auto [dim, extent] : llvm::enumerate(from.getShape())) {
    strides.push_back(getInterior()[dim] + 1);
    limits.push_back(getLo()[dim] + (extent ? (extent - 1) * strides.back() + 1 : 0));
  }
  if (b.needs(0))
    b.addTo(0, move(b.cotangent(), [&](Value g) -> Value {
              return SliceOp::create(b.getBuilder(), b.getLoc(), g, getLo(), limits, strides);
            }));
  if (b.needs(1) && b.cotangent()) {
    // What is left after x's own places are cleared.
    OpBuilder &builder = b.getBuilder();
    Value g = b.cotangent().value;
    RankedTensorType boolean = from.clone(builder.getI1Type()), scalar = RankedTensorType::get({}, builder.getI1Type());
    Value own = PadOp::create(builder, b.getLoc(), ConstantOp::createSplat(builder, b.getLoc(), boolean, 1),
                              ConstantOp::createSplat(builder, b.getLoc(), scalar, 0), getLo(), getHi(), getInterior());
    Value zero = ConstantOp::createSplat(builder, b.getLoc(), getType(), 0.0);
    Value rest = SelectOp::create(builder, b.getLoc(), own, zero, g);
    b.addTo(1, ReduceSumOp::create(builder, b.getLoc(), rest, llvm::to_vector(llvm::seq<int64_t>(0, from.getRank()))));
  }
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  auto elements = dyn_cast_or_null<SplatElementsAttr>(adaptor.getX());
  auto value = dyn_cast_or_null<SplatElementsAttr>(adaptor.getValue());
  if (elements && value && elements.getSplatValue<Attribute>() == value.getSplatValue<Attribute>())
    return elements.resizeSplat(getType());
  return {};
}

// concat

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(location, "expects at least one input");
  RankedTensorType first = typeOf(adaptor.getInputs()[0]);
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxes(location, "axis", axis, first.getRank())))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs().drop_front()) {
    RankedTensorType type = typeOf(input);
    bool same = type.getElementType() == first.getElementType() && type.getRank() == first.getRank();
    for (int64_t dim = 0; same && dim < first.getRank(); ++dim)
      same = dim == axis || type.getDimSize(dim) == first.getDimSize(dim);
    if (!same)
      return emitOptionalError(location, "expects inputs that differ on axis ", axis, " only, got ", first, " and ",
                               type);
    shape[axis] += type.getDimSize(axis);
  }
  types.push_back(first.clone(shape));
  return success();
}

SmallVector<IndexSource> ConcatOp::getIndexSources() {
  SmallVector<AffineExpr> dims = dimsOf(getContext(), getType().getRank());
  AffineExpr position = dims[getAxis()];
  SmallVector<IndexSource> sources;
  int64_t offset = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    int64_t extent = typeOf(input).getDimSize(getAxis());
    if (extent == 0)
      continue;
    dims[getAxis()] = position - offset;
    sources.push_back({unsigned(i), mapTo(getType(), dims), {{position, offset, offset + extent}}});
    offset += extent;
  }
  if (sources.empty())
    sources.push_back({0, mapTo(getType(), dims), {}});
  sources.back().bounds.clear();
  return sources;
}

LogicalResult ConcatOp::buildAdjoint(AdjointBuilder &b) {
  SmallVector<int64_t> starts(getType().getRank(), 0), limits(getType().getShape()), strides(getType().getRank(), 1);
  limits[getAxis()] = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    starts[getAxis()] = limits[getAxis()];
    limits[getAxis()] += typeOf(input).getDimSize(getAxis());
    if (b.needs(i))
      b.addTo(i, move(b.cotangent(), [&](Value g) -> Value {
                return SliceOp::create(b.getBuilder(), b.getLoc(), g, starts, limits, strides);
              }));
  }
  return success();
}

// As its index sources say, and of inputs without elements too, which are no source.
ShardingRule ConcatOp::getShardingRule() {
  ShardingRule rule = ShardingRule::whole(*this);
  for (auto [dim, extent] : llvm::enumerate(getType().getShape())) {
    if (int64_t(dim) == int64_t(getAxis()))
      continue;
    rule.results[0][dim] = {rule.addParallel(extent)};
    for (SmallVector<DimFactors> &operand : rule.operands)
      operand[dim] = rule.results[0][dim];
  }
  return rule;
}

bool ConcatOp::passesPartial(unsigned, ReduceKind) { return true; }

OpFoldResult ConcatOp::fold(FoldAdaptor) { return getInputs().size() == 1 ? OpFoldResult(getInputs()[0]) : nullptr; }

// reverse

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  types.push_back(type);
  return checkAxes(location, "axes", adaptor.getAxes(), type.getRank());
}

SmallVector<IndexSource> ReverseOp::getIndexSources() {
  SmallVector<AffineExpr> dims = dimsOf(getContext(), getType().getRank());
  for (int64_t axis : getAxes())
    dims[axis] = getType().getDimSize(axis) - 1 - dims[axis];
  return onlySource(getType(), dims);
}

LogicalResult ReverseOp::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, move(b.cotangent(),
                  [&](Value g) -> Value { return ReverseOp::create(b.getBuilder(), b.getLoc(), g, getAxes()); }));
  return success();
}

OpFoldResult ReverseOp::fold(FoldAdaptor) {
  if (getAxes().empty())
    return getX();
  auto producer = getX().getDefiningOp<ReverseOp>();
  return producer && producer.getAxes() == getAxes() ? OpFoldResult(producer.getX()) : nullptr;
}

// iota

LogicalResult IotaOp::verify() {
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) >= getType().getRank())
    return emitOpError("expects axis in [0, ") << getType().getRank() << "), got " << getAxis();
  return success();
}

AffineExpr IotaOp::getIndexValue() { return getAffineDimExpr(getAxis(), getContext()); }

void IotaOp::partitionLocal(PartitionBuilder &b) {
  if (!b.getResultSharding(0).isSplit(getAxis()))
    return;
  OpBuilder &builder = b.getBuilder();
  TensorBuilder t(builder, getLoc());
  Value start = t.cast(b.getStart(0, getAxis()), getType().getElementType());
  Value spread = BroadcastOp::create(builder, getLoc(), getType(), start, ArrayRef<int64_t>{});
  b.replaceResult(getOperation()->getResult(0), t.add(getResult(), spread));
}
