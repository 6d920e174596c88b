#include "../e2e/GoldenCurves.h"
#include "Ranks.h"

using namespace dlc;
using namespace dlc::test;

// The first steps of the curves of test/golden, PyTorch's losses on one process, by several ranks.
namespace {

constexpr size_t kSteps = 10;

template <typename Model, typename Optimizer, typename Loss>
void expectCurve(Model &model, Optimizer &optimizer, Loss loss, BatchList batches, const StateDict &file, DType dtype) {
  batches.resize(kSteps);
  for (auto &[x, y] : batches) {
    x = distributed::shard(x);
    y = distributed::shard(y);
  }
  distributed::DataParallel(model);
  expectGolden(train(model, optimizer, loss, batches, true), file, dtype);
}

void expectMlp(DType dtype) {
  StateDict file = golden("mlp");
  Mlp model(dtype);
  loadInitial(model, file, dtype);
  optim::SGD optimizer(model.parameters(), {.lr = 0.01});
  expectCurve(model, optimizer, meanSquares, vectors(file, dtype), file, dtype);
}

void expectCnn(DType dtype) {
  StateDict file = golden("cnn_adamw");
  SimpleCNN model(dtype);
  loadInitial(model, file, dtype);
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  expectCurve(model, optimizer, crossEntropy, digits(file, dtype), file, dtype);
}

void expectTransformer(DType dtype) {
  StateDict file = golden("transformer");
  Transformer model(dtype);
  loadInitial(model, file, dtype);
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  expectCurve(model, optimizer, crossEntropy, text(file), file, dtype);
}

class RanksGolden : public ::testing::TestWithParam<int64_t> {};

} // namespace

TEST_P(RanksGolden, MlpF32) {
  asRanks(GetParam(), [] { expectMlp(f32); });
}
TEST_P(RanksGolden, MlpF64) {
  asRanks(GetParam(), [] { expectMlp(f64); });
}
TEST_P(RanksGolden, CnnF32) {
  asRanks(GetParam(), [] { expectCnn(f32); });
}
TEST_P(RanksGolden, TransformerF32) {
  asRanks(GetParam(), [] { expectTransformer(f32); });
}
INSTANTIATE_TEST_SUITE_P(Ranks, RanksGolden, ::testing::Values(2, 4));
