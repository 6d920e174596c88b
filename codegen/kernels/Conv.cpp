// Convolutions: the emitters of contraction/ on the group's operands, and the group's epilogue.
#include "dlc/ir/Conv.h"

#include "contraction/Convolution.h"
#include "kernels/Epilogue.h"
#include "kernels/KernelRegistry.h"

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
  registry.add<dl::ConvOp>({emitConv<dl::ConvOp, emitConvForward>, workspaceOf<dl::ConvOp, forwardWorkspaceBytes>});
  registry.add<dl::ConvInputGradOp>(
      {emitConv<dl::ConvInputGradOp, emitConvInputGrad>, workspaceOf<dl::ConvInputGradOp, inputGradWorkspaceBytes>});
  registry.add<dl::ConvWeightGradOp>({emitWeightGrad, workspaceOf<dl::ConvWeightGradOp, weightGradWorkspaceBytes>});
}
