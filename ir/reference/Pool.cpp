#include "dlc/ir/Pool.h"

#include "reference/Registry.h"

#include <cmath>

using namespace mlir;
using namespace dlc::dl;

namespace {

/// One window: its place in the pooled tensor, and the places of its elements inside the input, in row-major order.
struct Window {
  int64_t pooled;
  SmallVector<int64_t> elements;
  /// Elements inside the input and its padding, without what ceil mode adds.
  int64_t padded;
};

} // namespace

/// Written from PyTorch's definition, apart from PoolDims' own bounds.
static void forEachWindow(const PoolDims &d, function_ref<void(const Window &)> function) {
  int64_t shape[] = {d.planes, d.out[0], d.out[1]};
  forEachIndex(shape, [&](ArrayRef<int64_t> at, int64_t i) {
    Window window{i, {}, 0};
    for (int64_t p = 0; p < d.kernel[0]; ++p)
      for (int64_t q = 0; q < d.kernel[1]; ++q) {
        int64_t row = at[1] * d.stride[0] - d.paddingLo[0] + p, column = at[2] * d.stride[1] - d.paddingLo[1] + q;
        if (row < d.in[0] + d.paddingHi[0] && column < d.in[1] + d.paddingHi[1])
          ++window.padded;
        if (row >= 0 && row < d.in[0] && column >= 0 && column < d.in[1])
          window.elements.push_back((at[0] * d.in[0] + row) * d.in[1] + column);
      }
    function(window);
  });
}

static int64_t firstMaximum(const ReferenceTensor &x, ArrayRef<int64_t> elements) {
  int64_t best = elements[0];
  for (int64_t i : elements)
    if (!std::isnan(x.floats[best]) && (std::isnan(x.floats[i]) || x.floats[i] > x.floats[best]))
      best = i;
  return best;
}

static double divisorOf(const PoolDims &dims, const Window &window) {
  return double(dims.countIncludePad ? window.padded : int64_t(window.elements.size()));
}

void dlc::dl::registerReferencePool(ReferenceRegistry &registry) {
  registry.add<MaxPoolOp>([](MaxPoolOp op, ReferenceOperands x, ReferenceResults y) {
    forEachWindow(op.getDims(), [&](const Window &window) {
      y[0].floats[window.pooled] = x[0].floats[firstMaximum(x[0], window.elements)];
    });
  });
  registry.add<MaxPoolGradOp>([](MaxPoolGradOp op, ReferenceOperands x, ReferenceResults y) {
    forEachWindow(op.getDims(), [&](const Window &window) {
      y[0].floats[firstMaximum(x[0], window.elements)] += x[1].floats[window.pooled];
    });
  });
  registry.add<AvgPoolOp>([](AvgPoolOp op, ReferenceOperands x, ReferenceResults y) {
    PoolDims dims = op.getDims();
    forEachWindow(dims, [&](const Window &window) {
      double sum = 0;
      for (int64_t i : window.elements)
        sum += x[0].floats[i];
      y[0].floats[window.pooled] = sum / divisorOf(dims, window);
    });
  });
  registry.add<AvgPoolGradOp>([](AvgPoolGradOp op, ReferenceOperands x, ReferenceResults y) {
    PoolDims dims = op.getDims();
    forEachWindow(dims, [&](const Window &window) {
      for (int64_t i : window.elements)
        y[0].floats[i] += x[0].floats[window.pooled] / divisorOf(dims, window);
    });
  });
}
