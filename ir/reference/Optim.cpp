#include "dlc/ir/Optim.h"

#include "reference/Registry.h"

#include <cmath>

using namespace mlir;
using namespace dlc::dl;

// PyTorch's single-tensor updates, element by element.

static void sgd(SgdOp op, ReferenceOperands x, ReferenceResults y) {
  double lr = x[2].floats[0], decay = x[3].floats[0];
  for (int64_t i = 0; i < x[0].size(); ++i) {
    double p = x[0].floats[i], step = x[1].floats[i] + decay * p;
    if (op.getBuffer()) {
      double momentum = x[5].floats[0], velocity = momentum * x[4].floats[i] + step;
      y[1].floats[i] = velocity;
      step = op.getNesterov() ? step + momentum * velocity : velocity;
    }
    y[0].floats[i] = p - lr * step;
  }
}

static void adam(ReferenceOperands x, ReferenceResults y, bool decoupled) {
  double step = double(x[4].integers[0]), lr = x[5].floats[0], beta1 = x[6].floats[0], beta2 = x[7].floats[0];
  double eps = x[8].floats[0], decay = x[9].floats[0];
  double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
  for (int64_t i = 0; i < x[0].size(); ++i) {
    double p = x[0].floats[i], g = x[1].floats[i];
    if (decoupled)
      p *= 1 - lr * decay;
    else
      g += decay * p;
    double m = beta1 * x[2].floats[i] + (1 - beta1) * g, v = beta2 * x[3].floats[i] + (1 - beta2) * g * g;
    y[0].floats[i] = p - lr * (m / correction1) / (std::sqrt(v / correction2) + eps);
    y[1].floats[i] = m;
    y[2].floats[i] = v;
  }
}

static void rmsProp(RmsPropOp op, ReferenceOperands x, ReferenceResults y) {
  double lr = x[3].floats[0], alpha = x[4].floats[0], eps = x[5].floats[0], decay = x[6].floats[0];
  size_t average = 7, buffer = average + bool(op.getAverage());
  for (int64_t i = 0; i < x[0].size(); ++i) {
    double p = x[0].floats[i], g = x[1].floats[i] + decay * p;
    double square = alpha * x[2].floats[i] + (1 - alpha) * g * g, variance = square;
    y[1].floats[i] = square;
    size_t result = 2;
    if (op.getAverage()) {
      double mean = alpha * x[average].floats[i] + (1 - alpha) * g;
      variance -= mean * mean;
      variance = variance < 0 ? 0 : variance;
      y[result++].floats[i] = mean;
    }
    double step = g / (std::sqrt(variance) + eps);
    if (op.getBuffer()) {
      step += x[buffer + 1].floats[0] * x[buffer].floats[i];
      y[result].floats[i] = step;
    }
    y[0].floats[i] = p - lr * step;
  }
}

void dlc::dl::registerReferenceOptim(ReferenceRegistry &registry) {
  registry.add<SgdOp>(sgd);
  registry.add<RmsPropOp>(rmsProp);
  registry.add<AdamOp>([](AdamOp, ReferenceOperands x, ReferenceResults y) { adam(x, y, /*decoupled=*/false); });
  registry.add<AdamWOp>([](AdamWOp, ReferenceOperands x, ReferenceResults y) { adam(x, y, /*decoupled=*/true); });
}
