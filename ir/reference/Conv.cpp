#include "dlc/ir/Conv.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

/// Calls `function(x, w, y)`, the positions in the three tensors, for each product of the convolution.
static void forEachProduct(const ConvDims &d, function_ref<void(int64_t x, int64_t w, int64_t y)> function) {
  int64_t shape[] = {d.batch, d.outChannels, d.out[0], d.out[1], d.inChannels, d.kernel[0], d.kernel[1]};
  forEachIndex(shape, [&](ArrayRef<int64_t> at, int64_t) {
    int64_t n = at[0], o = at[1], c = at[4];
    int64_t row = at[2] * d.stride[0] - d.paddingLo[0] + at[5], column = at[3] * d.stride[1] - d.paddingLo[1] + at[6];
    if (row < 0 || row >= d.in[0] || column < 0 || column >= d.in[1])
      return;
    function(((n * d.inChannels + c) * d.in[0] + row) * d.in[1] + column,
             ((o * d.inChannels + c) * d.kernel[0] + at[5]) * d.kernel[1] + at[6],
             ((n * d.outChannels + o) * d.out[0] + at[2]) * d.out[1] + at[3]);
  });
}

void dlc::dl::registerReferenceConv(ReferenceRegistry &registry) {
  registry.add<ConvOp>([](ConvOp op, ReferenceOperands in, ReferenceResults out) {
    forEachProduct(op.getDims(),
                   [&](int64_t x, int64_t w, int64_t y) { out[0].floats[y] += in[0].floats[x] * in[1].floats[w]; });
  });
  registry.add<ConvInputGradOp>([](ConvInputGradOp op, ReferenceOperands in, ReferenceResults out) {
    forEachProduct(op.getDims(),
                   [&](int64_t x, int64_t w, int64_t y) { out[0].floats[x] += in[0].floats[y] * in[1].floats[w]; });
  });
  registry.add<ConvWeightGradOp>([](ConvWeightGradOp op, ReferenceOperands in, ReferenceResults out) {
    forEachProduct(op.getDims(),
                   [&](int64_t x, int64_t w, int64_t y) { out[0].floats[w] += in[0].floats[x] * in[1].floats[y]; });
  });
}
