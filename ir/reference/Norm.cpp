#include "dlc/ir/Norm.h"

#include "reference/Registry.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dlc::dl;

/// Along the axis: y = exp(x - max) / sum or its logarithm.
template <class Op>
static void normalize(Op op, ReferenceOperands x, ReferenceResults y, bool logarithm) {
  ArrayRef<int64_t> shape = x[0].shape();
  int64_t n = shape[op.getAxis()], stride = rowMajorStrides(shape)[op.getAxis()];
  for (int64_t first = 0; first < x[0].size(); ++first) {
    if (first / stride % n != 0)
      continue;
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t k = 0; k < n; ++k) {
      double value = x[0].floats[first + k * stride];
      max = std::isnan(value) || value > max ? value : max;
    }
    for (int64_t k = 0; k < n; ++k)
      sum += std::exp(x[0].floats[first + k * stride] - max);
    for (int64_t k = 0; k < n; ++k) {
      double shifted = x[0].floats[first + k * stride] - max;
      y[0].floats[first + k * stride] = logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  }
}

static void layerNorm(LayerNormOp op, ReferenceOperands x, ReferenceResults y) {
  ArrayRef<int64_t> shape = x[0].shape();
  int64_t n = 1, affine = 0;
  for (int64_t extent : shape.drop_front(op.getAxis()))
    n *= extent;
  const ReferenceTensor *weight = op.getWeight() ? &x[++affine] : nullptr;
  const ReferenceTensor *bias = op.getBias() ? &x[++affine] : nullptr;
  for (int64_t row = 0; row < x[0].size(); row += n) {
    long double sum = 0, squares = 0; // a row of equal elements has exactly their value as mean
    for (int64_t k = 0; k < n; ++k)
      sum += x[0].floats[row + k];
    auto mean = double(sum / n);
    for (int64_t k = 0; k < n; ++k)
      squares += std::pow(x[0].floats[row + k] - mean, 2);
    double deviation = std::sqrt(double(squares / n) + op.getEps().convertToDouble());
    for (int64_t k = 0; k < n; ++k)
      y[0].floats[row + k] =
          (x[0].floats[row + k] - mean) / deviation * (weight ? weight->floats[k] : 1) + (bias ? bias->floats[k] : 0);
  }
}

static void batchNorm(BatchNormOp op, ReferenceOperands x, ReferenceResults y) {
  ArrayRef<int64_t> shape = x[0].shape();
  int64_t channels = shape[1], stride = rowMajorStrides(shape)[1], size = x[0].size();
  auto given = [&](unsigned argument) {
    auto [operand, count] = op.getODSOperandIndexAndLength(argument);
    return count ? &x[operand] : nullptr;
  };
  const ReferenceTensor *weight = given(1), *bias = given(2), *means = given(3), *variances = given(4);
  std::vector<long double> sums(channels), squares(channels);
  auto channelOf = [&](int64_t i) { return i / stride % channels; };
  auto meanOf = [&](int64_t c) {
    double mean = means ? means->floats[c] : double(sums[c] * channels / size);
    return op.isTraining() && std::isinf(mean) ? std::numeric_limits<double>::quiet_NaN() : mean;
  };
  for (int64_t i = 0; i < size; ++i)
    sums[channelOf(i)] += x[0].floats[i];
  for (int64_t i = 0; i < size; ++i)
    squares[channelOf(i)] += std::pow(x[0].floats[i] - meanOf(channelOf(i)), 2);
  auto varianceOf = [&](int64_t c) { return variances ? variances->floats[c] : double(squares[c] * channels / size); };
  for (int64_t i = 0; i < size; ++i) {
    int64_t c = channelOf(i);
    double n = (x[0].floats[i] - meanOf(c)) / std::sqrt(varianceOf(c) + op.getEps().convertToDouble());
    y[0].floats[i] = n * (weight ? weight->floats[c] : 1) + (bias ? bias->floats[c] : 0);
  }
  for (int64_t c = 0; op.isTraining() && c < channels; ++c) {
    y[1].floats[c] = meanOf(c);
    y[2].floats[c] = varianceOf(c);
  }
}

void dlc::dl::registerReferenceNorm(ReferenceRegistry &registry) {
  registry.add<SoftmaxOp>(
      [](SoftmaxOp op, ReferenceOperands x, ReferenceResults y) { normalize(op, x, y, /*logarithm=*/false); });
  registry.add<LogSoftmaxOp>(
      [](LogSoftmaxOp op, ReferenceOperands x, ReferenceResults y) { normalize(op, x, y, /*logarithm=*/true); });
  registry.add<LayerNormOp>(layerNorm);
  registry.add<BatchNormOp>(batchNorm);
}
