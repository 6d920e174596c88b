// Convolutions: the emitters of contraction/ on the group's operands, and the group's epilogue.
#include "dlc/ir/Conv.h"

#include "contraction/Convolution.h"
#include "kernels/Epilogue.h"
#include "kernels/KernelRegistry.h"
#include "kernels/WideOperands.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

static Type elementType(Operation *anchor) { return getElementTypeOrSelf(anchor->getResult(0).getType()); }

using ConvEmitter = void (*)(KernelBuilder &, const dl::ConvDims &, const CpuTraits &, Type, unsigned, unsigned,
                             EpilogueFn);
using ConvWorkspace = int64_t (*)(const dl::ConvDims &, int64_t, const CpuTraits &);

static LogicalResult emitWith(ConvEmitter emitter, KernelBuilder &kernel, const dl::ConvDims &dims, Operation *anchor,
                              const CpuTraits &traits, Epilogue epilogue) {
  FailureOr<unsigned> first = operandNumber(anchor, 0), second = operandNumber(anchor, 1);
  if (failed(first) || failed(second) || failed(epilogue.verify()))
    return failure();
  emitter(kernel, dims, traits, elementType(anchor), *first, *second,
          [&](ArrayRef<Value> index, const Lane &lane, Value sum) { epilogue.store(index, lane, sum); });
  return success();
}

/// What a convolution reads in place: its weights, and an input that needs no border.
static SmallVector<unsigned> readInPlace(Operation *anchor, const dl::ConvDims &dims, const CpuTraits &traits) {
  SmallVector<unsigned> which;
  if (isReadNarrow(anchor, 0) && !ForwardPlan::of(dims, bytesOf(elementType(anchor)), traits).copyInput)
    which.push_back(0);
  if (isReadNarrow(anchor, 1))
    which.push_back(1);
  return which;
}

static LogicalResult emitForward(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor, const CpuTraits &traits) {
  dl::ConvDims dims = cast<dl::ConvOp>(anchor).getDims();
  if (failed(operandNumber(anchor, 0)) || failed(operandNumber(anchor, 1)))
    return failure();
  WideOperands wide(kernel, anchor, readInPlace(anchor, dims, traits),
                    forwardWorkspaceBytes(dims, bytesOf(elementType(anchor)), traits));
  return emitWith(emitConvForward, wide, dims, anchor, traits, Epilogue(wide, group, anchor));
}

static int64_t forwardWorkspace(Operation *anchor, const CpuTraits &traits) {
  dl::ConvDims dims = cast<dl::ConvOp>(anchor).getDims();
  int64_t own = forwardWorkspaceBytes(dims, bytesOf(elementType(anchor)), traits);
  int64_t wide = WideOperands::workspaceBytes(anchor, readInPlace(anchor, dims, traits));
  return wide ? int64_t(llvm::alignTo(uint64_t(own), 64)) + wide : own;
}

template <typename OpTy, ConvEmitter emitter>
static LogicalResult emitConv(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor, const CpuTraits &traits) {
  return emitWith(emitter, kernel, cast<OpTy>(anchor).getDims(), anchor, traits, Epilogue(kernel, group, anchor));
}

// The weight's channel and kernel axes come as one loop.
static LogicalResult emitWeightGrad(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor,
                                    const CpuTraits &traits) {
  dl::ConvDims dims = cast<dl::ConvWeightGradOp>(anchor).getDims();
  int64_t row = dims.inChannels * dims.kernel[0] * dims.kernel[1];
  Epilogue::Axis axes[] = {{dims.outChannels, row}, {row, 1}};
  return emitWith(emitConvWeightGrad, kernel, dims, anchor, traits, Epilogue(kernel, group, anchor, axes));
}

template <typename OpTy, ConvWorkspace workspace>
static int64_t workspaceOf(Operation *anchor, const CpuTraits &traits) {
  return workspace(cast<OpTy>(anchor).getDims(), bytesOf(elementType(anchor)), traits);
}

void dlc::codegen::registerConvKernels(KernelRegistry &registry) {
  registry.add<dl::ConvOp>({emitForward, forwardWorkspace});
  registry.add<dl::ConvInputGradOp>(
      {emitConv<dl::ConvInputGradOp, emitConvInputGrad>, workspaceOf<dl::ConvInputGradOp, inputGradWorkspaceBytes>});
  registry.add<dl::ConvWeightGradOp>({emitWeightGrad, workspaceOf<dl::ConvWeightGradOp, weightGradWorkspaceBytes>});
}
