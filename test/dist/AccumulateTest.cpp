#include "../unit/TestFile.h"
#include "Ranks.h"

#include "dlc/runtime/Philox.h"

#include <cmath>

using namespace dlc;
using namespace dlc::test;

using Row = std::vector<double>;

namespace {

struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(3, 8)), fc2 = add("fc2", nn::Linear(8, 2));
  Tensor forward(Tensor x) override { return fc2(relu(fc1(x))); }
};

Tensor values(Shape shape) { return sin(arange(double(shape.numel())).to(f32)).reshape(shape); }

Tensor rowsOf(int64_t rows, int64_t columns) { return distributed::shard(values({rows, columns})); }

void expectNear(const Row &found, const Row &expected, const std::string &what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-5 * std::abs(expected[i]) + 1e-6) << what << ", element " << i;
}

/// The mean loss by micro-batches, and the gradients of all parameters, which are dropped.
std::vector<Tensor> lossAndGradients(nn::Module &model, int64_t n, const Tensor &x, const Tensor &y) {
  std::vector<Tensor> all{
      accumulate(n, [&](const Tensor &a, const Tensor &b) { return nn::mse_loss(model(a), b); }, x, y)};
  for (auto &parameter : model.parameters()) {
    all.push_back(parameter.grad());
    parameter.zero_grad();
  }
  return all;
}

/// One step of so many micro-batches on all ranks against the whole batch on one.
void expectTheWholeBatch(int64_t rows, int64_t n, bool jitted, const Device &device = {}) {
  Net alone, model;
  model.load_state_dict(alone.state_dict());
  Tensor expected = nn::mse_loss(alone(values({rows, 3})), values({rows, 2}));
  expected.backward();
  model.to(device);
  distributed::DataParallel(model);
  auto body = [&](Tensor x, Tensor y) { return lossAndGradients(model, n, x, y); };
  auto step = jit(body);
  Tensor x = rowsOf(rows, 3).to(device), y = rowsOf(rows, 2).to(device);
  std::vector<Tensor> found = jitted ? step(x, y) : body(x, y);
  std::string what = std::to_string(rows) + " rows in " + std::to_string(n);
  expectNear({found[0].item()}, {expected.item()}, what);
  auto parameters = alone.parameters();
  for (size_t i = 0; i < parameters.size(); ++i)
    expectNear(found[i + 1].to_vector<double>(), parameters[i].grad().to_vector<double>(), what);
}

} // namespace

// Rows that members and micro-batches share evenly, that parts share unevenly, and a last short part.
TEST(Accumulate, TwoRanksGiveTheGradientsOfTheBatch) {
  asRanks(2, [] {
    for (auto [rows, n] : {std::pair(24, 4), {10, 2}, {13, 4}, {2, 4}})
      expectTheWholeBatch(rows, n, true);
  });
}

TEST(Accumulate, ThreeRanksGiveTheGradientsOfTheBatchWithoutJit) {
  asRanks(3, [] {
    for (auto [rows, n] : {std::pair(24, 4), {13, 4}})
      expectTheWholeBatch(rows, n, false);
  });
}

TEST(Accumulate, RanksOnSimulatedDevices) {
  asRanks(2, [] { expectTheWholeBatch(24, 4, true, Device("sim")); }, "sim");
}

TEST(Accumulate, MembersOfAProcessToo) {
  asRanks(
      1,
      [] {
        for (auto [rows, n] : {std::pair(24, 4), {13, 4}})
          expectTheWholeBatch(rows, n, true);
      },
      "cpu:2");
}

namespace {

/// The gradient of w = 1 by accumulated means of x w, in n micro-batches of rows that this rank has a part of.
double gradientOf(int64_t n, const Tensor &x, Tensor &w, double scale = 1) {
  w.zero_grad();
  accumulate(n, [&](const Tensor &rows, const Tensor &) { return (rows * w).mean() * scale; }, x, x);
  return w.grad().item();
}

Tensor ofRank(Row first, Row second) {
  Row own = distributed::rank() ? std::move(second) : std::move(first);
  auto rows = static_cast<int64_t>(own.size());
  return distributed::from_local(tensor(own, {rows}).to(f32));
}

} // namespace

// DIST-03: gradients 1, 3 of one rank and 2, 6 of the other, summed over micro-batches, averaged over ranks.
TEST(Accumulate, ReducesBehindTheLastMicroBatch) {
  asRanks(2, [] {
    Tensor w = tensor({1.0f}).requires_grad_();
    EXPECT_EQ(gradientOf(2, ofRank({1, 3}, {2, 6}), w, 2), 6);
    Net model;
    distributed::DataParallel(model);
    optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
    auto step = jit([&](Tensor x, Tensor y) {
      optimizer.zero_grad();
      Tensor loss = accumulate(2, [&](const Tensor &a, const Tensor &b) { return nn::mse_loss(model(a), b); }, x, y);
      optimizer.step();
      return loss;
    });
    for (int i = 0; i < 5; ++i)
      step(rowsOf(8, 3), rowsOf(8, 2));
    for (const auto &[name, state] : model.state_dict())
      for (const Tensor &one : distributed::all_gather(state))
        EXPECT_EQ(one.to_vector<double>(), state.to_vector<double>()) << name;
  });
}

// DIST-05, without sharded gradients: 1 and 2 on both ranks are 3, or 1.5 as a mean.
TEST(Accumulate, CountsEveryMicroBatch) {
  asRanks(2, [] {
    Tensor w = tensor({1.0f}).requires_grad_();
    EXPECT_EQ(gradientOf(2, ofRank({1, 2}, {1, 2}), w, 2), 3);
    EXPECT_EQ(gradientOf(2, ofRank({1, 2}, {1, 2}), w), 1.5);
  });
}

// DIST-15: the mean is over rows, whatever ranks and micro-batches have of them; a short window is not filled up.
TEST(Accumulate, WeighsByRows) {
  asRanks(2, [] {
    Tensor w = tensor({1.0f}).requires_grad_();
    for (int64_t n : {1, 2, 3, 4}) {
      EXPECT_FLOAT_EQ(float(gradientOf(n, ofRank({1, 1, 1}, {5}), w)), 2) << n;
      EXPECT_FLOAT_EQ(float(gradientOf(n, ofRank({1, 1, 1, 5}, {}), w)), 2) << n;
      EXPECT_FLOAT_EQ(float(gradientOf(n, distributed::shard(tensor({1.0f, 1.0f, 1.0f, 5.0f, 5.0f})), w)), 2.6f) << n;
    }
    EXPECT_EQ(gradientOf(4, distributed::shard(tensor({8.0f})), w), 8);
  });
}

// Rows are equal, so it does not matter which go together: a mask for each micro-batch, by the element's place in all
// of it.
TEST(Accumulate, DropoutDrawsInEachMicroBatch) {
  asRanks(2, [] {
    manual_seed(7);
    nn::Linear model(3, 1);
    distributed::DataParallel(model);
    auto step = jit([&](Tensor x, Tensor y) {
      accumulate(2, [&](const Tensor &a, const Tensor &b) { return (model(dropout(a, 0.5)) - b).mean(); }, x, y);
      Tensor gradient = model.weight.grad().clone();
      model.zero_grad();
      return gradient;
    });
    for (uint64_t call = 0; call < 2; ++call) {
      manual_seed(7 + call);
      Row expected(3);
      for (uint64_t draw : {0, 1})
        for (size_t i = 0; i < 12; ++i)
          expected[i % 3] += philox(7 + call, draw, i)[0] < 0x1p31 ? 0 : 2.0 / 8;
      EXPECT_EQ(step(distributed::shard(ones({8, 3})), distributed::shard(zeros({8, 1}))).to_vector<double>(),
                expected);
    }
  });
}

namespace {

struct Normed : nn::Module {
  nn::Linear fc = add("fc", nn::Linear(3, 4));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(4));
  Tensor forward(Tensor x) override { return norm(fc(x)); }
};

/// Batch norm is over a micro-batch of all ranks; its sums are exchanged in each step of the loop.
void expectNormsOfAllRanks(const Device &device) {
  Normed alone, model;
  model.load_state_dict(alone.state_dict());
  model.to(device);
  distributed::DataParallel(model);
  // Rows 0, 1 of both ranks are one part, 2, 3 the other.
  Tensor x = values({8, 3}), y = values({8, 4});
  auto part = [](const Tensor &all, int64_t from) {
    return cat({all.slice(0, from, from + 2), all.slice(0, from + 4, from + 6)}, 0);
  };
  for (int64_t from : {0, 2})
    (nn::mse_loss(alone(part(x, from)), part(y, from)) * 0.5).backward();
  accumulate(
      2, [&](const Tensor &a, const Tensor &b) { return nn::mse_loss(model(a), b); }, distributed::shard(x).to(device),
      distributed::shard(y).to(device));
  for (size_t i = 0; i < alone.parameters().size(); ++i)
    expectNear(model.parameters()[i].grad().to_vector<double>(), alone.parameters()[i].grad().to_vector<double>(),
               "parameter " + std::to_string(i));
  expectNear(model.norm.running_mean.to_vector<double>(), alone.norm.running_mean.to_vector<double>(), "mean");
}

} // namespace

TEST(Accumulate, BatchNormSeesMicroBatchesOfAllRanks) {
  asRanks(2, [] { expectNormsOfAllRanks({}); });
}

TEST(Accumulate, BatchNormSeesMicroBatchesOfSimulatedDevices) {
  asRanks(2, [] { expectNormsOfAllRanks(Device("sim")); }, "sim");
}

// The hidden rows of all but one of 8 micro-batches, 256 floats each, need no memory.
TEST(Accumulate, NeedsTheMemoryOfAMicroBatch) {
  asRanks(2, [] {
    struct Wide : nn::Module {
      nn::Linear fc1 = add("fc1", nn::Linear(3, 256)), fc2 = add("fc2", nn::Linear(256, 2));
      Tensor forward(Tensor x) override { return fc2(tanh(fc1(x))); }
    };
    Wide model;
    distributed::DataParallel(model);
    auto peakOf = [&](int64_t n) {
      auto step = jit([&](Tensor x, Tensor y) { return lossAndGradients(model, n, x, y); });
      step(rowsOf(1024, 3), rowsOf(1024, 2));
      return step.report().peak_bytes;
    };
    int64_t rows = 1024, hidden = rows / 2 * 256 * 4;
    EXPECT_LT(peakOf(8), peakOf(1) - hidden * 7 / 8);
  });
}

namespace {

/// Losses where rows are a power of two (elsewhere their division is rounded otherwise) and parameters, after a step of
/// each number of rows.
std::string bytesAfter(int64_t n, const std::vector<int64_t> &batches) {
  manual_seed(5);
  Net model;
  distributed::DataParallel(model);
  optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    auto lossOf = [&](const Tensor &a, const Tensor &b) { return nn::mse_loss(model(a), b); };
    Tensor loss;
    if (n) {
      loss = accumulate(n, lossOf, x, y);
    } else {
      loss = lossOf(x, y);
      loss.backward();
    }
    optimizer.step();
    return loss;
  });
  std::string bytes;
  auto append = [&](const Tensor &tensor) {
    for (double value : tensor.to_vector<double>())
      bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  };
  for (int64_t rows : batches) {
    Tensor loss = step(rowsOf(rows, 3), rowsOf(rows, 2));
    if ((rows & (rows - 1)) == 0)
      append(loss);
  }
  for (const auto &[name, tensor] : model.state_dict())
    append(tensor);
  return bytes;
}

std::string bytesOf(int64_t n, int64_t ranks, const std::vector<int64_t> &batches, const std::string &devices = "cpu") {
  TemporaryFolder folder;
  asRanks(
      ranks,
      [&] {
        std::string bytes = bytesAfter(n, batches);
        if (distributed::rank() == 0)
          writeFile(folder.file("bytes"), bytes);
      },
      devices, "data:8");
  return readFile(folder.file("bytes"));
}

void expectInvariant(int64_t ranks, std::initializer_list<int64_t> counts) {
  std::string one = bytesOf(0, 1, {64, 24});
  ASSERT_FALSE(one.empty());
  for (int64_t n : counts)
    EXPECT_TRUE(bytesOf(n, ranks, {64, 24}) == one) << n << " micro-batches";
}

} // namespace

TEST(Accumulate, InvariantBitsOnOneRank) { expectInvariant(1, {1, 2, 4, 8}); }
TEST(Accumulate, InvariantBitsOnTwoRanks) { expectInvariant(2, {1, 2, 4}); }
TEST(Accumulate, InvariantBitsOnFourRanks) { expectInvariant(4, {1, 2}); }

TEST(Accumulate, InvariantBitsOfTwoRanksOfTwoMembers) {
  EXPECT_TRUE(bytesOf(2, 2, {64}, "cpu:2") == bytesOf(0, 1, {64}));
}

// Parts of unequal leaves would have unequal means: such a batch is one micro-batch.
TEST(Accumulate, InvariantBitsOfUnevenRows) { EXPECT_TRUE(bytesOf(4, 2, {13}) == bytesOf(0, 1, {13})); }

TEST(Accumulate, InvariantSaysWhereABatchIsOneMicroBatch) {
  asRanks(
      2,
      [] {
        static std::string told;
        set_remark_handler([](const std::string &text) { told += text; });
        Tensor x = rowsOf(13, 1), w = tensor({1.0f}).requires_grad_();
        accumulate(2, [&](const Tensor &a, const Tensor &) { return (a * w).mean(); }, x, x);
        EXPECT_NE(
            told.find("accumulate: 13 rows are no multiple of the 8 parts of invariant; they are one micro-batch"),
            std::string::npos)
            << told;
      },
      "cpu", "data:8");
}

TEST(Accumulate, InvariantNeedsMicroBatchesOfWholeParts) {
  asRanks(
      2,
      [] {
        EXPECT_EQ(errorOf([] {
                    Tensor x = rowsOf(24, 1);
                    accumulate(3, [](const Tensor &a, const Tensor &) { return a.mean(); }, x, x);
                  }),
                  "accumulate: expected a number of micro-batches that, times 2 members, divides the 8 parts of "
                  "invariant, got 3");
      },
      "cpu", "data:8");
}
