#include "dlc/ir/Pool.h"

#include "Axes.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Shape.h"
#include "dlc/ir/TensorBuilder.h"

#include <limits>

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Pool.cpp.inc"

void DlDialect::addPoolOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Pool.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {

struct PoolAttributes {
  ArrayRef<int64_t> kernel, strides, paddingLo, paddingHi;
  bool ceilMode, countIncludePad;
};

} // namespace

template <typename OpOrAdaptor>
static PoolAttributes maxAttributesOf(OpOrAdaptor op) {
  return {op.getKernel(), op.getStrides(), op.getPaddingLo(), op.getPaddingHi(), op.getCeilMode(), false};
}

template <typename OpOrAdaptor>
static PoolAttributes averageAttributesOf(OpOrAdaptor op) {
  return {op.getKernel(),    op.getStrides(),  op.getPaddingLo(),
          op.getPaddingHi(), op.getCeilMode(), op.getCountIncludePad()};
}

static PoolDims dimsOf(RankedTensorType x, const PoolAttributes &attributes) {
  PoolDims dims{};
  dims.planes = x.getDimSize(0) * x.getDimSize(1);
  dims.countIncludePad = attributes.countIncludePad;
  for (int axis = 0; axis < 2; ++axis) {
    int64_t in = dims.in[axis] = x.getDimSize(2 + axis);
    int64_t kernel = dims.kernel[axis] = attributes.kernel[axis];
    int64_t stride = dims.stride[axis] = attributes.strides[axis];
    int64_t lo = dims.paddingLo[axis] = attributes.paddingLo[axis];
    int64_t hi = dims.paddingHi[axis] = attributes.paddingHi[axis];
    int64_t room = in + lo + hi - kernel;
    dims.out[axis] =
        (attributes.ceilMode ? llvm::divideCeilSigned(room, stride) : llvm::divideFloorSigned(room, stride)) + 1;
    if (attributes.ceilMode && (dims.out[axis] - 1) * stride >= in + lo)
      --dims.out[axis];
  }
  return dims;
}

static LogicalResult checkPool(std::optional<Location> location, RankedTensorType x, const PoolAttributes &attributes) {
  if (x.getRank() != 4 || !x.hasStaticShape())
    return emitOptionalError(location, "expects an input of static rank 4 (NCHW), got ", x);
  if (failed(checkAtLeast(location, "kernel", attributes.kernel, 2, 1)) ||
      failed(checkAtLeast(location, "strides", attributes.strides, 2, 1)) ||
      failed(checkAtLeast(location, "padding_lo", attributes.paddingLo, 2, 0)) ||
      failed(checkAtLeast(location, "padding_hi", attributes.paddingHi, 2, 0)))
    return failure();
  for (int axis = 0; axis < 2; ++axis) {
    int64_t kernel = attributes.kernel[axis], most = std::max(attributes.paddingLo[axis], attributes.paddingHi[axis]);
    if (most >= kernel)
      return emitOptionalError(location, "expects padding below the kernel's ", kernel, " on axis ", 2 + axis, ", got ",
                               most);
    int64_t padded = x.getDimSize(2 + axis) + attributes.paddingLo[axis] + attributes.paddingHi[axis];
    if (x.getDimSize(2 + axis) < 1 || kernel > padded)
      return emitOptionalError(location, "expects a kernel of at most ", padded, " (the padded input) on axis ",
                               2 + axis, ", got ", kernel);
  }
  return success();
}

/// Each plane alone: images and channels are loops, of every operand and the result.
static ShardingRule planesRule(Operation *op) {
  ShardingRule rule = ShardingRule::whole(op);
  for (int64_t dim = 0; dim < 2; ++dim) {
    unsigned factor = rule.addParallel(typeOf(op->getResult(0)).getDimSize(dim));
    for (auto *tensors : {&rule.operands, &rule.results})
      for (SmallVector<DimFactors> &dims : *tensors)
        dims[dim] = {factor};
  }
  return rule;
}

ShardingRule MaxPoolOp::getShardingRule() { return planesRule(*this); }
ShardingRule MaxPoolGradOp::getShardingRule() { return planesRule(*this); }
ShardingRule AvgPoolOp::getShardingRule() { return planesRule(*this); }
ShardingRule AvgPoolGradOp::getShardingRule() { return planesRule(*this); }

static RankedTensorType resultOf(RankedTensorType x, const PoolDims &dims) {
  return x.clone({x.getDimSize(0), x.getDimSize(1), dims.out[0], dims.out[1]});
}

static LogicalResult inferPooled(std::optional<Location> location, RankedTensorType x, const PoolAttributes &attributes,
                                 SmallVectorImpl<Type> &types) {
  if (failed(checkPool(location, x, attributes)))
    return failure();
  types.push_back(resultOf(x, dimsOf(x, attributes)));
  return success();
}

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferPooled(location, typeOf(adaptor.getX()), maxAttributesOf(adaptor), types);
}

LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferPooled(location, typeOf(adaptor.getX()), averageAttributesOf(adaptor), types);
}

static LogicalResult checkGradient(std::optional<Location> location, RankedTensorType x, RankedTensorType dy,
                                   const PoolAttributes &attributes) {
  SmallVector<Type, 1> pooled;
  if (failed(inferPooled(location, x, attributes, pooled)))
    return failure();
  if (pooled[0] != dy)
    return emitOptionalError(location, "expects dy of the pooled type ", pooled[0], ", got ", dy);
  return success();
}

LogicalResult MaxPoolGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return checkGradient(location, typeOf(adaptor.getX()), typeOf(adaptor.getDy()), maxAttributesOf(adaptor));
}

LogicalResult AvgPoolGradOp::verify() {
  return checkGradient(getLoc(), getType(), typeOf(getDy()), averageAttributesOf(*this));
}

PoolDims MaxPoolOp::getDims() { return dimsOf(typeOf(getX()), maxAttributesOf(*this)); }
PoolDims MaxPoolGradOp::getDims() { return dimsOf(typeOf(getX()), maxAttributesOf(*this)); }
PoolDims AvgPoolOp::getDims() { return dimsOf(typeOf(getX()), averageAttributesOf(*this)); }
PoolDims AvgPoolGradOp::getDims() { return dimsOf(getType(), averageAttributesOf(*this)); }

static int64_t windowWork(const PoolDims &dims) {
  return dims.planes * dims.out[0] * dims.out[1] * dims.kernel[0] * dims.kernel[1];
}
bool MaxPoolOp::acceptsEpilogue() { return true; }
bool MaxPoolGradOp::acceptsEpilogue() { return false; }
bool AvgPoolOp::acceptsEpilogue() { return true; }
bool AvgPoolGradOp::acceptsEpilogue() { return false; }
int64_t MaxPoolOp::getFlops() { return windowWork(getDims()); }
int64_t MaxPoolGradOp::getFlops() { return windowWork(getDims()); }
int64_t AvgPoolOp::getFlops() { return windowWork(getDims()); }
int64_t AvgPoolGradOp::getFlops() { return windowWork(getDims()); }

LogicalResult MaxPoolOp::buildAdjoint(AdjointBuilder &b) {
  if (b.cotangent())
    b.addTo(0, MaxPoolGradOp::create(b.getBuilder(), b.getLoc(), getX(), b.cotangent().value, getKernel(), getStrides(),
                                     getPaddingLo(), getPaddingHi(), getCeilMode()));
  return success();
}

LogicalResult AvgPoolOp::buildAdjoint(AdjointBuilder &b) {
  if (b.cotangent())
    b.addTo(0,
            AvgPoolGradOp::create(b.getBuilder(), b.getLoc(), getX().getType(), b.cotangent().value, getKernel(),
                                  getStrides(), getPaddingLo(), getPaddingHi(), getCeilMode(), getCountIncludePad()));
  return success();
}

LogicalResult AvgPoolGradOp::buildAdjoint(AdjointBuilder &b) {
  if (b.cotangent())
    b.addTo(0, AvgPoolOp::create(b.getBuilder(), b.getLoc(), getDy().getType(), b.cotangent().value, getKernel(),
                                 getStrides(), getPaddingLo(), getPaddingHi(), getCeilMode(), getCountIncludePad()));
  return success();
}

namespace {

/// Picks, for each window of x, the element of another tensor of x's shape at the window's first maximum: the adjoint
/// of max_pool_grad by dy. One strided slice of the padded tensors for each place in the window.
class FirstMaximum {
public:
  FirstMaximum(OpBuilder &builder, Location location, RankedTensorType x, PoolDims dims)
      : builder(builder), t(builder, location), x(x), dims(dims) {
    for (int axis = 0; axis < 2; ++axis) {
      lo[2 + axis] = dims.paddingLo[axis];
      reach[axis] = (dims.out[axis] - 1) * dims.stride[axis] + dims.kernel[axis];
      hi[2 + axis] = std::max<int64_t>(0, reach[axis] - dims.paddingLo[axis] - dims.in[axis]);
    }
  }

  Value pick(Value values, Value from) {
    Value padded = pad(values, -std::numeric_limits<double>::infinity()), paddedFrom = pad(from, 0);
    Value inside = pad(t.splat(1, x.clone(builder.getI1Type())), 0);
    Value best, chosen, found;
    for (int64_t p = 0; p < dims.kernel[0]; ++p)
      for (int64_t q = 0; q < dims.kernel[1]; ++q) {
        Value value = place(padded, p, q), candidate = place(paddedFrom, p, q), valid = place(inside, p, q);
        if (!best) {
          best = value, chosen = candidate, found = valid;
          continue;
        }
        Value nan = t.logicalAnd(t.ne(value, value), t.eq(best, best));
        Value better = either(either(t.gt(value, best), nan), t.logicalNot(found));
        better = t.logicalAnd(better, valid);
        best = t.select(better, value, best);
        chosen = t.select(better, candidate, chosen);
        found = either(found, valid);
      }
    return chosen;
  }

private:
  Value either(Value a, Value b) { return OrOp::create(builder, t.getLoc(), a, b); }
  Value pad(Value value, double with) {
    Value scalar = t.splat(with, RankedTensorType::get({}, typeOf(value).getElementType()));
    return builder.createOrFold<PadOp>(t.getLoc(), value, scalar, lo, hi, none);
  }
  /// The element at (p, q) of every window.
  Value place(Value value, int64_t p, int64_t q) {
    int64_t starts[] = {0, 0, p, q}, strides[] = {1, 1, dims.stride[0], dims.stride[1]};
    int64_t limits[] = {x.getDimSize(0), x.getDimSize(1), p + reach[0] - dims.kernel[0] + 1,
                        q + reach[1] - dims.kernel[1] + 1};
    return SliceOp::create(builder, t.getLoc(), value, starts, limits, strides);
  }

  OpBuilder &builder;
  TensorBuilder t;
  RankedTensorType x;
  PoolDims dims;
  int64_t lo[4] = {0, 0, 0, 0}, hi[4] = {0, 0, 0, 0}, none[4] = {0, 0, 0, 0}, reach[2];
};

} // namespace

bool MaxPoolGradOp::isDifferentiable(unsigned operand) { return operand == 1; }

LogicalResult MaxPoolGradOp::buildAdjoint(AdjointBuilder &b) {
  if (b.cotangent())
    b.addTo(1, FirstMaximum(b.getBuilder(), b.getLoc(), typeOf(getX()), getDims()).pick(getX(), b.cotangent().value));
  return success();
}
