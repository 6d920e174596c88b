// Convolutions and their gradients: calls of cuDNN. What else a group does reads the result once more.
#include "dlc/ir/Conv.h"

#include "driver/MeshDescription.h"
#include "kernels/GroupAnalysis.h"
#include "library/Epilogues.h"
#include "library/LibraryRegistry.h"

#include <algorithm>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

static ConvCall::Tensor denseTensor(ArrayRef<int64_t> extents) {
  ConvCall::Tensor tensor{0, 0, std::vector<int64_t>(extents), std::vector<int64_t>(extents.size(), 1)};
  for (size_t i = extents.size() - 1; i > 0; --i)
    tensor.strides[i - 1] = tensor.strides[i] * extents[i];
  return tensor;
}

// Whether as many zeros behind as before give the same windows.
static bool hasSymmetricPadding(const dl::ConvDims &dims) {
  for (int axis : {0, 1}) {
    int64_t padded = dims.in[axis] + 2 * dims.paddingLo[axis] - dims.kernel[axis];
    if (padded < 0 || padded / dims.stride[axis] + 1 != dims.out[axis])
      return false;
  }
  return true;
}

static std::string cannot(const dl::ConvDims &dims) {
  if (dims.leaves > 1)
    return "a sum in leaves";
  if (!hasSymmetricPadding(dims))
    return "padding that differs on both sides";
  int64_t extents[] = {dims.batch,  dims.inChannels, dims.outChannels, dims.in[0],    dims.in[1],
                       dims.out[0], dims.out[1],     dims.kernel[0],   dims.kernel[1]};
  for (int64_t extent : extents)
    if (extent < 1 || extent > std::numeric_limits<int32_t>::max())
      return "a dimension of " + std::to_string(extent);
  int64_t strides[] = {dims.inChannels * dims.in[0] * dims.in[1], dims.outChannels * dims.out[0] * dims.out[1],
                       dims.inChannels * dims.kernel[0] * dims.kernel[1]};
  for (int64_t stride : strides)
    if (stride > std::numeric_limits<int32_t>::max())
      return "a stride of " + std::to_string(stride);
  return {};
}

static ConvCall describe(const dl::ConvDims &dims, ConvCall::Kind kind) {
  ConvCall call;
  call.kind = kind;
  call.input = denseTensor({dims.batch, dims.inChannels, dims.in[0], dims.in[1]});
  call.weight = denseTensor({dims.outChannels, dims.inChannels, dims.kernel[0], dims.kernel[1]});
  call.output = denseTensor({dims.batch, dims.outChannels, dims.out[0], dims.out[1]});
  call.strides = {dims.stride[0], dims.stride[1]};
  call.padding = {dims.paddingLo[0], dims.paddingLo[1]};
  call.dilation = {1, 1};
  return call;
}

// Winograd's algorithm for kernels of 3 x 3 and tiles of 4 x 4 holds all three tensors transformed, with 36 elements
// for 16 of an image and for 9 of a weight, as f32; implicit products need tables only. What wants more is not chosen.
static int64_t workspaceOf(const ConvCall &call) {
  constexpr int64_t kLeast = int64_t(1) << 20, kMost = int64_t(256) << 20, kTransformed = 4, kBytes = 4;
  int64_t elements = product(call.input.extents) + product(call.weight.extents) + product(call.output.extents);
  return std::clamp(kTransformed * kBytes * elements, kLeast, kMost);
}

namespace {

/// Which tensors of a call the op's operands are, in order, and which its result.
struct Roles {
  ConvCall::Kind kind;
  ConvCall::Tensor ConvCall::*operands[2], ConvCall::*result;
};

constexpr Roles kForward = {ConvCall::Kind::Forward, {&ConvCall::input, &ConvCall::weight}, &ConvCall::output};
constexpr Roles kInputGrad = {ConvCall::Kind::InputGrad, {&ConvCall::output, &ConvCall::weight}, &ConvCall::input};
constexpr Roles kWeightGrad = {ConvCall::Kind::WeightGrad, {&ConvCall::input, &ConvCall::output}, &ConvCall::weight};

} // namespace

static bool setOperands(ConvCall &call, const Roles &roles, dl::GroupOp group, Operation *anchor, std::string &why) {
  Type types[2];
  for (unsigned i : {0, 1}) {
    int64_t number = inputNumber(anchor->getOperand(i));
    if (number < 0) {
      why = "an operand that the group computes";
      return false;
    }
    (call.*roles.operands[i]).operand = number;
    types[i] = getElementTypeOrSelf(group.getOperand(unsigned(number)).getType());
  }
  if (types[0] != types[1] || !(types[0].isF32() || types[0].isF16() || types[0].isBF16())) {
    why = types[0] != types[1] ? "factors of two types" : "elements that are not f32, f16 or bf16";
    return false;
  }
  call.dtype = dtypeOf(types[0]);
  return true;
}

template <typename OpTy, const Roles &roles>
static std::optional<LibraryPlan> planConv(dl::GroupOp group, Operation *anchor, const GpuOptions &options,
                                           std::string &why) {
  dl::ConvDims dims = cast<OpTy>(anchor).getDims();
  why = cannot(dims);
  ConvCall call = describe(dims, roles.kind);
  if (!why.empty() || !setOperands(call, roles, group, anchor, why))
    return {};
  LibraryPlan plan;
  Type stored = getElementTypeOrSelf(group.getResult(0).getType());
  auto epilogue = matchEpilogue(group, anchor, /*columns=*/0);
  plan.finish = !epilogue || epilogue->kind != MatMulCall::Epilogue::None || dtypeOf(stored) != call.dtype;
  plan.factor = getElementTypeOrSelf(group.getOperand(unsigned((call.*roles.operands[0]).operand)).getType());
  plan.element = plan.factor;
  plan.count = product((call.*roles.result).extents);
  plan.multiplyAdds = double(dims.multiplyAdds());
  (call.*roles.result).operand = group.getNumOperands() + (plan.finish ? group.getNumResults() : 0);
  call.tf32 = options.tf32 && call.dtype == DType::F32;
  if (call.tf32)
    plan.factor = FloatTF32Type::get(group.getContext());
  plan.call.what = call;
  planWorkspace(plan, group, workspaceOf(call));
  return plan;
}

void codegen::registerConvLibraries(LibraryRegistry &registry) {
  registry.add<dl::ConvOp>({planConv<dl::ConvOp, kForward>, &GpuOptions::conv, "Conv"});
  registry.add<dl::ConvInputGradOp>({planConv<dl::ConvInputGradOp, kInputGrad>, &GpuOptions::conv, "Conv"});
  registry.add<dl::ConvWeightGradOp>({planConv<dl::ConvWeightGradOp, kWeightGrad>, &GpuOptions::conv, "Conv"});
}
