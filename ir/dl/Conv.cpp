#include "dlc/ir/Conv.h"

#include "Axes.h"
#include "dlc/ir/DlAttrs.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Conv.cpp.inc"

void DlDialect::addConvOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Conv.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {

struct ConvAttributes {
  ArrayRef<int64_t> strides, paddingLo, paddingHi, dilation;
  int64_t groups;
};

} // namespace

template <typename OpOrAdaptor>
static ConvAttributes attributesOf(OpOrAdaptor op) {
  return {op.getStrides(), op.getPaddingLo(), op.getPaddingHi(), op.getRhsDilation(), int64_t(op.getGroups())};
}

static ConvDims dimsOf(RankedTensorType x, RankedTensorType w, const ConvAttributes &attributes) {
  ConvDims dims{};
  dims.batch = x.getDimSize(0);
  dims.inChannels = x.getDimSize(1);
  dims.outChannels = w.getDimSize(0);
  for (int axis = 0; axis < 2; ++axis) {
    dims.in[axis] = x.getDimSize(2 + axis);
    dims.kernel[axis] = w.getDimSize(2 + axis);
    dims.stride[axis] = attributes.strides[axis];
    dims.paddingLo[axis] = attributes.paddingLo[axis];
    dims.paddingHi[axis] = attributes.paddingHi[axis];
    int64_t room = dims.in[axis] + dims.paddingLo[axis] + dims.paddingHi[axis] - dims.kernel[axis];
    dims.out[axis] = room < 0 ? 0 : room / dims.stride[axis] + 1;
  }
  return dims;
}

static LogicalResult checkRank(std::optional<Location> location, StringRef name, RankedTensorType type,
                               StringRef dims) {
  if (type.getRank() == 4 && type.hasStaticShape())
    return success();
  return emitOptionalError(location, "expects ", name, " of static rank 4 (", dims, "), got ", type);
}

static LogicalResult checkConv(std::optional<Location> location, RankedTensorType x, RankedTensorType w,
                               const ConvAttributes &attributes) {
  if (failed(checkRank(location, "an input", x, "NCHW")) || failed(checkRank(location, "a weight", w, "OIHW")) ||
      failed(checkAtLeast(location, "strides", attributes.strides, 2, 1)) ||
      failed(checkAtLeast(location, "padding_lo", attributes.paddingLo, 2, 0)) ||
      failed(checkAtLeast(location, "padding_hi", attributes.paddingHi, 2, 0)))
    return failure();
  if (x.getElementType() != w.getElementType())
    return emitOptionalError(location, "expects one element type, got ", x, " and ", w);
  if (attributes.dilation != ArrayRef<int64_t>{1, 1})
    return emitOptionalError(location, "expects rhs_dilation [1, 1], got [", attributes.dilation,
                             "]; dilated convolution is not supported yet");
  if (attributes.groups != 1)
    return emitOptionalError(location, "expects groups 1, got ", attributes.groups,
                             "; grouped convolution is not supported yet, slice the channels and dl.concat");
  if (x.getDimSize(1) != w.getDimSize(1))
    return emitOptionalError(location, "expects a weight with ", x.getDimSize(1), " input channels, got ", w);
  for (int axis = 0; axis < 2; ++axis) {
    int64_t padded = x.getDimSize(2 + axis) + attributes.paddingLo[axis] + attributes.paddingHi[axis];
    if (w.getDimSize(2 + axis) < 1 || w.getDimSize(2 + axis) > padded)
      return emitOptionalError(location, "expects a kernel of 1 to ", padded, " (the padded input) on axis ", 2 + axis,
                               ", got ", w.getDimSize(2 + axis));
  }
  return success();
}

static RankedTensorType resultOf(RankedTensorType x, const ConvDims &dims) {
  return x.clone({dims.batch, dims.outChannels, dims.out[0], dims.out[1]});
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  RankedTensorType x = typeOf(adaptor.getX()), w = typeOf(adaptor.getW());
  ConvAttributes attributes = attributesOf(adaptor);
  if (failed(checkConv(location, x, w, attributes)))
    return failure();
  types.push_back(resultOf(x, dimsOf(x, w, attributes)));
  return success();
}

/// The gradients know x, w and dy; dy must be what the convolution gives.
static LogicalResult verifyGradient(Operation *op, RankedTensorType x, RankedTensorType w, RankedTensorType dy,
                                    const ConvAttributes &attributes) {
  if (failed(checkConv(op->getLoc(), x, w, attributes)))
    return failure();
  RankedTensorType expected = resultOf(x, dimsOf(x, w, attributes));
  if (dy != expected)
    return op->emitOpError("expects dy of the convolution's type ") << expected << ", got " << dy;
  return success();
}

LogicalResult ConvInputGradOp::verify() {
  return verifyGradient(*this, getType(), typeOf(getW()), typeOf(getDy()), attributesOf(*this));
}
LogicalResult ConvWeightGradOp::verify() {
  if (failed(checkLeaves(*this, getLeaves())))
    return failure();
  return verifyGradient(*this, typeOf(getX()), getType(), typeOf(getDy()), attributesOf(*this));
}

ConvDims ConvOp::getDims() { return dimsOf(typeOf(getX()), typeOf(getW()), attributesOf(*this)); }
ConvDims ConvInputGradOp::getDims() { return dimsOf(getType(), typeOf(getW()), attributesOf(*this)); }
ConvDims ConvWeightGradOp::getDims() {
  ConvDims dims = dimsOf(typeOf(getX()), getType(), attributesOf(*this));
  dims.leaves = int64_t(getLeaves());
  return dims;
}

// Windows are whole; batch, channels in and out are loops of all three.

namespace {

struct ConvFactors {
  using Dims = SmallVector<DimFactors>;
  DimFactors batch, inChannels, outChannels;

  Dims ofInput() const { return {batch, inChannels, {}, {}}; }
  Dims ofWeight() const { return {outChannels, inChannels, {}, {}}; }
  Dims ofResult() const { return {batch, outChannels, {}, {}}; }
};

} // namespace

ShardingRule ConvOp::getShardingRule() {
  ShardingRule rule;
  ConvDims dims = getDims();
  ConvFactors f{{rule.addParallel(dims.batch)},
                {rule.addReduce(dims.inChannels, ReduceKind::Sum)},
                {rule.addParallel(dims.outChannels)}};
  rule.operands = {f.ofInput(), f.ofWeight()};
  rule.results = {f.ofResult()};
  return rule;
}

ShardingRule ConvInputGradOp::getShardingRule() {
  ShardingRule rule;
  ConvDims dims = getDims();
  ConvFactors f{{rule.addParallel(dims.batch)},
                {rule.addParallel(dims.inChannels)},
                {rule.addReduce(dims.outChannels, ReduceKind::Sum)}};
  rule.operands = {f.ofResult(), f.ofWeight()};
  rule.results = {f.ofInput()};
  return rule;
}

ShardingRule ConvWeightGradOp::getShardingRule() {
  ShardingRule rule;
  ConvDims dims = getDims();
  ConvFactors f{{rule.addReduce(dims.batch, ReduceKind::Sum)},
                {rule.addParallel(dims.inChannels)},
                {rule.addParallel(dims.outChannels)}};
  rule.operands = {f.ofInput(), f.ofResult()};
  rule.results = {f.ofWeight()};
  return rule;
}

void ConvWeightGradOp::partitionLocal(PartitionBuilder &b) {
  if (LeafSplit leaves = b.getLeaves(0, 0)) // the batch is never part of a longer dim: leaves share it evenly
    setLeaves(uint64_t(leaves.count));
}

bool ConvOp::acceptsEpilogue() { return true; }
bool ConvInputGradOp::acceptsEpilogue() { return true; }
bool ConvWeightGradOp::acceptsEpilogue() { return false; }
int64_t ConvOp::getFlops() { return getDims().multiplyAdds(); }
int64_t ConvInputGradOp::getFlops() { return getDims().multiplyAdds(); }
int64_t ConvWeightGradOp::getFlops() { return getDims().multiplyAdds(); }

// conv is bilinear in (x, w), and each op is an adjoint of the others: <conv(x, w), dy> = <x, conv_input_grad(dy, w)> =
// <w, conv_weight_grad(x, dy)>.

namespace {

/// Builds the three with one op's attributes.
struct Trilinear {
  AdjointBuilder &b;
  ConvAttributes attributes;

  template <typename Op>
  Value build(Type type, Value first, Value second) {
    return Op::create(b.getBuilder(), b.getLoc(), type, first, second, attributes.strides, attributes.paddingLo,
                      attributes.paddingHi, attributes.dilation, attributes.groups);
  }
  Value forward(Type y, Value x, Value w) { return build<ConvOp>(y, x, w); }
  Value inputGrad(Type x, Value dy, Value w) { return build<ConvInputGradOp>(x, dy, w); }
  Value weightGrad(Type w, Value x, Value dy) { return build<ConvWeightGradOp>(w, x, dy); }
};

} // namespace

LogicalResult ConvOp::buildAdjoint(AdjointBuilder &b) {
  Value g = b.cotangent().value;
  Trilinear conv{b, attributesOf(*this)};
  if (g && b.needs(0))
    b.addTo(0, conv.inputGrad(getX().getType(), g, getW()));
  if (g && b.needs(1))
    b.addTo(1, conv.weightGrad(getW().getType(), getX(), g));
  return success();
}

LogicalResult ConvInputGradOp::buildAdjoint(AdjointBuilder &b) {
  Value g = b.cotangent().value; // of x's type
  Trilinear conv{b, attributesOf(*this)};
  if (g && b.needs(0))
    b.addTo(0, conv.forward(getDy().getType(), g, getW()));
  if (g && b.needs(1))
    b.addTo(1, conv.weightGrad(getW().getType(), g, getDy()));
  return success();
}

LogicalResult ConvWeightGradOp::buildAdjoint(AdjointBuilder &b) {
  Value g = b.cotangent().value; // of w's type
  Trilinear conv{b, attributesOf(*this)};
  if (g && b.needs(0))
    b.addTo(0, conv.inputGrad(getX().getType(), getDy(), g));
  if (g && b.needs(1))
    b.addTo(1, conv.forward(getDy().getType(), getX(), g));
  return success();
}
