#include "dlc/ir/Pool.h"

#include "Axes.h"

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
