#include "../e2e/GoldenCurves.h"
#include "../unit/TestFile.h"
#include "Ranks.h"

using namespace dlc;
using namespace dlc::test;

// With `invariant` losses and state have the same bits for every number of members that divides the leaves; larger nets
// and all engines: matrix.py.
namespace {

constexpr size_t kSteps = 10;

/// Of the ranks of a job: gradients are those of so many micro-batches; 0: of the batch by backward().
int64_t microBatches = 0;

/// The state after two steps of whole batches.
template <typename Model, typename Optimizer, typename Loss>
std::string bytesOfParts(Model &model, Optimizer &optimizer, Loss loss, const BatchList &batches) {
  distributed::DataParallel(model);
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    auto lossOf = [&](const Tensor &a, const Tensor &b) { return loss(model(a), b); };
    Tensor value = microBatches ? accumulate(microBatches, lossOf, x, y) : lossOf(x, y);
    if (!microBatches)
      value.backward();
    optimizer.step();
    return value;
  });
  for (size_t i = 0; i < 2; ++i)
    step(distributed::shard(batches[i].first), distributed::shard(batches[i].second));
  std::string bytes;
  for (const auto &[name, tensor] : model.state_dict())
    for (double value : tensor.template to_vector<double>())
      bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  return bytes;
}

/// Batches of a few steps lose a few rows, so that parts are of different size.
BatchList sharded(BatchList batches) {
  batches.resize(kSteps);
  for (size_t i = 0; i < kSteps; ++i)
    for (Tensor *tensor : {&batches[i].first, &batches[i].second})
      *tensor = distributed::shard(tensor->slice(0, 0, tensor->size(0) - int64_t(i % 3)).contiguous());
  return batches;
}

/// Losses and the state after these steps.
template <typename Model, typename Optimizer, typename Loss>
std::string bytesAfter(Model &model, Optimizer &optimizer, Loss loss, const BatchList &batches) {
  distributed::DataParallel(model);
  std::string bytes;
  auto append = [&](const Tensor &tensor) {
    for (double value : tensor.template to_vector<double>())
      bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  };
  for (double value : train(model, optimizer, loss, batches, true))
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  for (const auto &[name, tensor] : model.state_dict())
    append(tensor);
  return bytes;
}

std::string mlp() {
  StateDict file = golden("mlp");
  Mlp model(f32);
  loadInitial(model, file, f32);
  optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.9});
  return bytesAfter(model, optimizer, meanSquares, sharded(vectors(file, f32)));
}

/// Rows that ranks give themselves, a different number each; one rank gives all.
std::string ownRows() {
  StateDict file = golden("mlp");
  Mlp model(f32);
  loadInitial(model, file, f32);
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  int64_t rank = distributed::rank(), ranks = distributed::world_size();
  auto border = [&](int64_t r) { return r == ranks ? 20 : 20 * r * r / (ranks * ranks); };
  BatchList batches = vectors(file, f32);
  batches.resize(kSteps);
  for (auto &[x, y] : batches)
    for (Tensor *tensor : {&x, &y})
      *tensor = distributed::from_local(tensor->slice(0, border(rank), border(rank + 1)).contiguous());
  return bytesAfter(model, optimizer, meanSquares, batches);
}

std::string cnnInParts() {
  StateDict file = golden("cnn_adamw");
  SimpleCNN model(f32);
  loadInitial(model, file, f32);
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  return bytesOfParts(model, optimizer, crossEntropy, digits(file, f32));
}

std::string transformerInParts() {
  StateDict file = golden("transformer");
  Transformer model(f32);
  loadInitial(model, file, f32);
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  return bytesOfParts(model, optimizer, crossEntropy, text(file));
}

/// What one job of so many ranks makes of it.
std::string bytesOf(std::string (*run)(), int64_t ranks, const std::string &devices = "cpu") {
  TemporaryFolder folder;
  asRanks(
      ranks,
      [&] {
        std::string bytes = run();
        if (distributed::rank() == 0)
          writeFile(folder.file("bytes"), bytes);
      },
      devices, "data:8");
  return readFile(folder.file("bytes"));
}

void expectInvariant(std::string (*run)()) {
  std::string one = bytesOf(run, 1);
  ASSERT_FALSE(one.empty());
  for (int64_t ranks : {2, 4})
    EXPECT_TRUE(bytesOf(run, ranks) == one) << ranks << " ranks";
  EXPECT_TRUE(bytesOf(run, 2, "cpu:2") == one) << "2 ranks of 2 members";
}

void expectInvariantInParts(std::string (*run)()) {
  microBatches = 0;
  std::string one = bytesOf(run, 1);
  ASSERT_FALSE(one.empty());
  microBatches = 2;
  EXPECT_TRUE(bytesOf(run, 2) == one);
}

} // namespace

TEST(Invariant, CnnInMicroBatches) { expectInvariantInParts(cnnInParts); }
TEST(Invariant, TransformerInMicroBatches) { expectInvariantInParts(transformerInParts); }
TEST(Invariant, Mlp) { expectInvariant(mlp); }
TEST(Invariant, OwnRows) { expectInvariant(ownRows); }

TEST(Invariant, RefusesWhatCannotBe) {
  alone([] {
    for (const char *wrong : {"data", "data:", "data:0", "data:6", "model:8", "data:8x", "data:-8"})
      EXPECT_EQ(errorOf([&] { distributed::init({.invariant = wrong}); }),
                "init: invariant: expected data:8, or another power of two, got '" + std::string(wrong) + "'");
  });
  alone([] {
    EXPECT_EQ(errorOf([&] { distributed::init({.devices = "cpu:3", .invariant = "data:8"}); }),
              "init: invariant: expected a number of members that divides 8, got 3");
  });
}
