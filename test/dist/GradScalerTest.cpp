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
  auto run = [&](const std::vector<float> &rows) {
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

/// Bits of norms, scales and all state after steps, of which the third overflows on the last of two ranks: by its
/// inputs, or where `half`, by a scaled gradient that f32 would hold.
std::string bytesOf(int64_t ranks, bool half) {
  TemporaryFolder folder;
  auto fileOf = [&](int64_t rank) { return folder.file("bytes" + std::to_string(rank)); };
  auto train = [&] {
    manual_seed(0); // whatever ran before in this process
    Net model;
    distributed::DataParallel(model);
    optim::AdamW optimizer(model.parameters(), {.lr = 0.1});
    GradScaler scaler({.growth_interval = 2});
    std::string bytes;
    auto append = [&](const Tensor &tensor) {
      for (double value : tensor.to_vector<double>())
        bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
    };
    auto lossOf = [&](const Tensor &x, const Tensor &y) {
      if (!half)
        return nn::mse_loss(model(x), y);
      Autocast scope(f16);
      return nn::mse_loss(model(x), y);
    };
    auto step = jit([&](Tensor x, Tensor y) {
      optimizer.zero_grad();
      scaler.scale(lossOf(x, y)).backward();
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
        (half ? y : x)[11] = half ? tensor({1000, 1}) : tensor({1e30, 1, 1});
      append(step(distributed::shard(x.clone()), distributed::shard(y.clone())));
      append(tensor(scaler.get_scale(), f64));
    }
    for (const StateDict &state : {model.state_dict(), optimizer.state_dict(), scaler.state_dict()})
      for (const auto &[name, tensor] : state)
        append(tensor);
    EXPECT_EQ(optimizer.state_dict().at("opt.step").item(), 5);
    writeFile(fileOf(distributed::rank()), bytes);
  };
  asRanks(ranks, train, "cpu", "data:8");
  for (int64_t rank = 1; rank < ranks; ++rank)
    EXPECT_TRUE(readFile(fileOf(rank)) == readFile(fileOf(0))) << rank;
  return readFile(fileOf(0));
}

void expectBitsOfOneRank(bool half) {
  std::string one = bytesOf(1, half);
  ASSERT_FALSE(one.empty());
  EXPECT_TRUE(bytesOf(2, half) == one);
}

} // namespace

TEST(DistGradScaler, OneRankOverflowsAndBothSkip) {
  asRanks(2, [] { expectBothSkip(true); });
}
// The gradient 3 * 32768 of rank 1's row is beyond f16's range; 1 * 32768 of rank 0's is not.
TEST(DistGradScaler, OneRankOverflowsInHalfAndBothSkip) {
  asRanks(2, [] {
    struct One : nn::Module {
      Parameter w = parameter("w", {1, 1}, init::zeros());
    } model;
    distributed::DataParallel(model);
    optim::Adam optimizer(model.parameters(), {.lr = 0.1});
    GradScaler scaler({.init_scale = 32768});
    auto step = jit(
        [&](Tensor x, Tensor slopes) {
          optimizer.zero_grad();
          Tensor y;
          {
            Autocast scope(f16);
            y = matmul(x, model.w);
          }
          scaler.scale((y * slopes).mean()).backward();
          scaler.unscale_(optimizer);
          Tensor norm = nn::utils::clip_grad_norm_(model.parameters(), 1);
          scaler.step(optimizer);
          scaler.update();
          return norm;
        },
        {.fullgraph = true});
    auto run = [&] { return step(distributed::shard(ones({2, 1})), distributed::shard(tensor({{2}, {6}}))).item(); };
    EXPECT_FALSE(std::isfinite(run()));
    EXPECT_EQ(model.w.item(), 0);
    EXPECT_EQ(scaler.get_scale(), 16384);
    EXPECT_EQ(optimizer.state_dict().at("opt.step").item(), 0);
    EXPECT_EQ(optimizer.state_dict().at("opt.exp_avg.w").item(), 0);
    EXPECT_EQ(run(), 4);
    EXPECT_NEAR(model.w.item(), -0.1, 1e-6);
    EXPECT_EQ(optimizer.state_dict().at("opt.step").item(), 1);
    EXPECT_NEAR(optimizer.state_dict().at("opt.exp_avg.w").item(), 0.1, 1e-6);
  });
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

TEST(DistGradScaler, InvariantHasTheBitsOfOneRank) { expectBitsOfOneRank(false); }
TEST(DistGradScaler, InvariantHasTheBitsOfOneRankInHalf) { expectBitsOfOneRank(true); }
