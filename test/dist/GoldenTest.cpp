#include "../e2e/GoldenCurves.h"
#include "Ranks.h"

using namespace dlc;
using namespace dlc::test;

// The first steps of a curve of test/golden, PyTorch's losses on one process, by several ranks; larger nets and all
// engines: matrix.py.
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

class RanksGolden : public ::testing::TestWithParam<int64_t> {};

} // namespace

TEST_P(RanksGolden, MlpF32) {
  asRanks(GetParam(), [] { expectMlp(f32); });
}
TEST_P(RanksGolden, MlpF64) {
  asRanks(GetParam(), [] { expectMlp(f64); });
}
INSTANTIATE_TEST_SUITE_P(Ranks, RanksGolden, ::testing::Values(2, 4));
