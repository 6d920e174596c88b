#include "../unit/TestFile.h"
#include "Ranks.h"

#include <cmath>
#include <limits>

using namespace dlc;
using namespace dlc::test;

using Row = std::vector<double>;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Two : nn::Module {
  Parameter w = parameter("w", {2}, init::zeros());
  Parameter b = parameter("b", {1}, init::zeros());
};

/// Each rank has one of two rows; the mean over both.
Tensor lossOf(Two &model, const Tensor &x) { return ((x * model.w).sum({1}) + 12 * model.b).mean(); }

/// One rank's row overflows: both skip, moments and counts too.
void expectBothSkip(bool jitted) {
  Two model;
  distributed::DataParallel(model);
  optim::Adam optimizer(model.parameters(), {.lr = 0.1});
  GradScaler scaler({.init_scale = 1024});
  auto body = [&](Tensor x) {
    optimizer.zero_grad();
    scaler.scale(lossOf(model, x)).backward();
    scaler.step(optimizer);
    scaler.update();
  };
  auto step = jit([&](Tensor x) { body(x); }, {.fullgraph = true});
  auto run = [&](std::vector<float> rows) {
    Tensor x = distributed::shard(tensor(rows, {2, 2}));
    jitted ? step(x) : body(x);
  };
  run({1, 2, 3, kInf});
  EXPECT_EQ(model.w.to_vector<double>(), (Row{0, 0}));
  EXPECT_EQ(model.b.item(), 0);
  EXPECT_EQ(scaler.get_scale(), 512);
  run({1, 2, 3, 4});
  EXPECT_NEAR(model.w.to_vector<double>()[0], -0.1, 1e-6);
  EXPECT_EQ(optimizer.state_dict().at("opt.step").item(), 1);
  run({kInf, 2, 3, 4});
  EXPECT_EQ(optimizer.state_dict().at("opt.step").item(), 1);
  EXPECT_EQ(scaler.get_scale(), 256);
}

struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(3, 8)), fc2 = add("fc2", nn::Linear(8, 2));
  Tensor forward(Tensor x) override { return fc2(relu(fc1(x))); }
};

Tensor values(Shape shape) { return sin(arange(double(shape.numel())).to(f32)).reshape(shape); }

/// Bits of norms, scales and the state after steps, of which the third overflows in one row.
std::string bytesOf(int64_t ranks) {
  TemporaryFolder folder;
  auto train = [&] {
    Net model;
    distributed::DataParallel(model);
    optim::AdamW optimizer(model.parameters(), {.lr = 0.1});
    GradScaler scaler({.growth_interval = 2});
    std::string bytes;
    auto append = [&](const Tensor &tensor) {
      for (double value : tensor.to_vector<double>())
        bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
    };
    auto step = jit([&](Tensor x, Tensor y) {
      optimizer.zero_grad();
      scaler.scale(nn::mse_loss(model(x), y)).backward();
      scaler.unscale_(optimizer);
      nn::utils::centralize_grad_(model.parameters());
      Tensor norm = nn::utils::clip_grad_norm_(model.parameters(), 0.5);
      nn::utils::standardize_grad_(model.parameters());
      scaler.step(optimizer);
      scaler.update();
      return norm;
    });
    for (int i = 0; i < 6; ++i) {
      Tensor x = values({13, 3}) * (1.0 + i), y = values({13, 2});
      if (i == 2)
        x[7] = tensor({1e30, 1, 1});
      append(step(distributed::shard(x.clone()), distributed::shard(y)));
      append(tensor(scaler.get_scale(), f64));
    }
    for (const auto &[name, tensor] : model.state_dict())
      append(tensor);
    append(optimizer.state_dict().at("opt.step"));
    EXPECT_EQ(optimizer.state_dict().at("opt.step").item(), 5);
    if (distributed::rank() == 0)
      writeFile(folder.file("bytes"), bytes);
  };
  asRanks(ranks, train, "cpu", "data:8");
  return readFile(folder.file("bytes"));
}

} // namespace

TEST(DistGradScaler, OneRankOverflowsAndBothSkip) {
  asRanks(2, [] { expectBothSkip(true); });
}
TEST(DistGradScaler, OneRankOverflowsAndBothSkipWithoutJit) {
  asRanks(2, [] { expectBothSkip(false); });
}
TEST(DistGradScaler, MembersOfAProcessSkipTogether) {
  asRanks(1, [] { expectBothSkip(true); }, "cpu:2");
}

// Gradients 3 and 4 from the two rows, 12 on both ranks: 13, and the true one of the scaled loss.
TEST(DistGradScaler, DIST_07_UX_07_TheNormIsThatOfTheReducedGradients) {
  asRanks(2, [] {
    Two model;
    distributed::DataParallel(model);
    optim::SGD optimizer(model.parameters(), {.lr = 1});
    GradScaler scaler({.init_scale = 1024});
    Tensor x = distributed::shard(tensor({{6, 0}, {0, 8}}));
    auto step = jit([&](Tensor x) {
      optimizer.zero_grad();
      scaler.scale(lossOf(model, x)).backward();
      scaler.unscale_(optimizer);
      Tensor norm = nn::utils::clip_grad_norm_(model.parameters(), 1);
      scaler.step(optimizer);
      scaler.update();
      return norm;
    });
    EXPECT_FLOAT_EQ(step(x).item<float>(), 13);
    EXPECT_NEAR(model.w.to_vector<double>()[0], -3.0 / 13, 1e-6);
    EXPECT_NEAR(model.w.to_vector<double>()[1], -4.0 / 13, 1e-6);
    EXPECT_NEAR(model.b.item(), -12.0 / 13, 1e-6);
  });
}

TEST(DistGradScaler, InvariantHasTheBitsOfOneRank) {
  std::string one = bytesOf(1);
  ASSERT_FALSE(one.empty());
  EXPECT_TRUE(bytesOf(2) == one);
}
