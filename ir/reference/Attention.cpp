#include "dlc/ir/Attention.h"

#include "reference/Registry.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dlc::dl;

// Row by row: scores, their maximum, weights, and the weighted sum of v's rows.
static void attention(AttentionOp op, ReferenceOperands x, ReferenceResults results) {
  AttentionDims dims = op.getDims();
  double scale = op.getScale().convertToDouble();
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  for (int64_t row = 0; row < dims.batch * dims.queries; ++row) {
    int64_t firstKey = row / dims.queries * dims.keys, i = row % dims.queries;
    std::vector<double> scores(dims.keys);
    double max = lowest, sum = 0;
    for (int64_t j = 0; j < dims.keys; ++j) {
      double dot = 0;
      for (int64_t d = 0; d < dims.depth; ++d)
        dot += x[0].floats[row * dims.depth + d] * x[1].floats[(firstKey + j) * dims.depth + d];
      double score = scale * dot;
      if (x.size() == 4 && x[3].isFloat())
        score += x[3].floats[row * dims.keys + j];
      else if (x.size() == 4 && !x[3].integers[row * dims.keys + j])
        score = lowest;
      if (op.getCausal() && j > i)
        score = lowest;
      scores[j] = score;
      max = std::isnan(score) || score > max ? score : max;
    }
    results[1].floats[row] = lowest;
    if (max == lowest)
      continue;
    for (double score : scores)
      sum += std::exp(score - max);
    results[1].floats[row] = std::isinf(max) ? max : max + std::log(sum);
    for (int64_t j = 0; j < dims.keys; ++j)
      for (int64_t e = 0; e < dims.width; ++e)
        results[0].floats[row * dims.width + e] +=
            std::exp(scores[j] - max) / sum * x[2].floats[(firstKey + j) * dims.width + e];
  }
}

void dlc::dl::registerReferenceAttention(ReferenceRegistry &registry) { registry.add<AttentionOp>(attention); }
