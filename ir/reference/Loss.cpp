#include "dlc/ir/Loss.h"

#include "reference/Registry.h"

#include <cmath>

using namespace mlir;
using namespace dlc::dl;

/// -log softmax of one class.
static double negativeLogLikelihood(ArrayRef<double> logits, int64_t target) {
  double max = logits[0], sum = 0;
  for (double logit : logits)
    max = std::isnan(logit) || logit > max ? logit : max;
  for (double logit : logits)
    sum += std::exp(logit - max);
  return std::log(sum) - (logits[target] - max);
}

static void putTogether(LossReduction reduction, ArrayRef<double> losses, double count, ReferenceTensor &result) {
  if (reduction == LossReduction::None) {
    result.floats = losses.vec();
    return;
  }
  double sum = 0;
  for (double loss : losses)
    sum += loss;
  result.floats[0] = reduction == LossReduction::Sum ? sum : sum / count;
}

static void crossEntropy(CrossEntropyOp op, ReferenceOperands x, ReferenceResults y) {
  int64_t rows = x[0].shape()[0], classes = x[0].shape()[1];
  double smoothing = op.getLabelSmoothing().convertToDouble(), count = 0;
  std::vector<double> losses(rows, 0.0);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t target = x[1].integers[row];
    if (target == int64_t(op.getIgnoreIndex()) || target < 0 || target >= classes)
      continue;
    ArrayRef<double> logits(x[0].floats.data() + row * classes, classes);
    double uniform = 0;
    for (int64_t c = 0; smoothing != 0 && c < classes; ++c)
      uniform += negativeLogLikelihood(logits, c) / double(classes);
    losses[row] = (1 - smoothing) * negativeLogLikelihood(logits, target) + smoothing * uniform;
    ++count;
  }
  putTogether(op.getReduction(), losses, count, y[0]);
}

static void squaredError(MseOp op, ReferenceOperands x, ReferenceResults y) {
  std::vector<double> losses;
  for (auto [value, target] : llvm::zip_equal(x[0].floats, x[1].floats))
    losses.push_back((value - target) * (value - target));
  putTogether(op.getReduction(), losses, double(losses.size()), y[0]);
}

void dlc::dl::registerReferenceLoss(ReferenceRegistry &registry) {
  registry.add<CrossEntropyOp>(crossEntropy);
  registry.add<MseOp>(squaredError);
}
