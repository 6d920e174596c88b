#include "ErrorText.h"

#include <cmath>
#include <limits>

using namespace dlc;
using Row = std::vector<double>;

namespace {

struct Net : nn::Module {
  Parameter w = parameter("w", {2, 3}, init::zeros());
  Parameter b = parameter("b", {2}, init::zeros());
  Parameter unused = parameter("unused", {2}, init::zeros());
};

Tensor slopes() { return tensor({{1, 2, 2}, {4, -2, 10}}); }
Tensor biasSlopes() { return tensor({-8, 16}); }

void backward(const Net &net) { ((net.w * slopes()).sum() + (net.b * biasSlopes()).sum()).backward(); }

void expectNear(const Tensor &found, const Row &expected) {
  Row values = found.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-6 * (1 + std::abs(expected[i]))) << i;
}

} // namespace

// √(1 + 4 + 4 + 16 + 4 + 100 + 64 + 256) = √449
TEST(GradTransforms, ClipsByTheNormOfAll) {
  for (bool jitted : {false, true}) {
    Net net;
    optim::SGD optimizer(net.parameters(), {.lr = 1});
    auto body = [&] {
      optimizer.zero_grad();
      backward(net);
      Tensor norm = nn::utils::clip_grad_norm_(net.parameters(), 2);
      optimizer.step();
      return norm;
    };
    double norm = std::sqrt(449.0), factor = 2 / (norm + 1e-6);
    EXPECT_NEAR((jitted ? jit(body, {.fullgraph = true})() : body()).item(), norm, 1e-5);
    expectNear(net.b, {8 * factor, -16 * factor});
    expectNear(net.w, {-factor, -2 * factor, -2 * factor, -4 * factor, 2 * factor, -10 * factor});
    EXPECT_EQ(net.unused.to_vector<double>(), (Row{0, 0}));
  }
}

TEST(GradTransforms, SmallNormsStay) {
  Net net;
  backward(net);
  EXPECT_NEAR(nn::utils::clip_grad_norm_(net.parameters(), 22).item(), std::sqrt(449.0), 1e-5);
  EXPECT_EQ(net.b.grad().to_vector<double>(), (Row{-8, 16}));
  EXPECT_EQ(nn::utils::clip_grad_norm_({net.unused}, 22).item(), 0);
  EXPECT_ERROR("clip_grad_norm_: expected a limit of 0 or more, got -1.000000",
               nn::utils::clip_grad_norm_(net.parameters(), -1));
}

TEST(GradTransforms, ClipsValues) {
  Net net;
  backward(net);
  nn::utils::clip_grad_value_(net.parameters(), 2.5);
  EXPECT_EQ(net.w.grad().to_vector<double>(), (Row{1, 2, 2, 2.5, -2, 2.5}));
  EXPECT_EQ(net.b.grad().to_vector<double>(), (Row{-2.5, 2.5}));
  net.zero_grad();
  double inf = std::numeric_limits<double>::infinity();
  (net.b * tensor({std::nan(""), -inf})).sum().backward();
  nn::utils::clip_grad_value_(net.parameters(), 2.5);
  Row clipped = net.b.grad().to_vector<double>();
  EXPECT_TRUE(std::isnan(clipped[0]));
  EXPECT_EQ(clipped[1], -2.5);
}

// numpy: (g - g.mean()) / (g.std() + 1e-8)
TEST(GradTransforms, Standardizes) {
  Net net;
  backward(net);
  nn::utils::standardize_grad_(net.parameters());
  double mean = 17.0 / 6, deviation = std::sqrt(129.0 / 6 - mean * mean);
  Row expected;
  for (double slope : {1, 2, 2, 4, -2, 10})
    expected.push_back((slope - mean) / deviation);
  expectNear(net.w.grad(), expected);
  expectNear(net.b.grad(), {-1, 1});
  net.zero_grad();
  (net.b * 3).sum().backward();
  nn::utils::standardize_grad_(net.parameters());
  EXPECT_EQ(net.b.grad().to_vector<double>(), (Row{0, 0})) << "what does not vary has no deviation";
}

// g - g.mean(axis=1, keepdims=True); vectors stay.
TEST(GradTransforms, Centralizes) {
  Net net;
  backward(net);
  nn::utils::centralize_grad_(net.parameters());
  expectNear(net.w.grad(), {1 - 5.0 / 3, 2 - 5.0 / 3, 2 - 5.0 / 3, 0, -6, 6});
  EXPECT_EQ(net.b.grad().to_vector<double>(), (Row{-8, 16}));
}

// Followed by the steps of the optimizer, in one graph.
TEST(GradTransforms, WorkInsideJit) {
  Net net;
  optim::SGD optimizer(net.parameters(), {.lr = 1});
  auto step = jit(
      [&] {
        optimizer.zero_grad();
        backward(net);
        nn::utils::centralize_grad_(net.parameters());
        nn::utils::clip_grad_value_(net.parameters(), 5);
        optimizer.step();
      },
      {.fullgraph = true});
  step();
  step();
  EXPECT_FLOAT_EQ(net.w.to_vector<float>()[4], 10);
  EXPECT_EQ(net.b.to_vector<double>(), (Row{10, -10}));
}

namespace {
struct Reached : nn::Module {
  Parameter w = parameter("w", {1}, init::ones());
  Parameter other = parameter("other", {1}, init::ones());
};
} // namespace

// OPT-09: with decay 0.1 and lr 0.1, w = 1 that nothing reaches any more.
TEST(GradTransforms, OPT_09_ZerosDecay) {
  for (auto [none, expected] : {std::pair(true, 1.0f), {false, 0.99f}})
    for (bool jitted : {false, true}) {
      Reached model;
      optim::SGD optimizer({model.w}, {.lr = 0.1, .weight_decay = 0.1});
      (model.w * 2).sum().backward();
      auto body = [&, none = none] {
        optimizer.zero_grad(none);
        optimizer.step();
      };
      jitted ? jit(body)() : body();
      EXPECT_FLOAT_EQ(model.w.item<float>(), expected) << none << jitted;
      EXPECT_EQ(model.other.grad().defined(), false);
    }
}

// OPT-09: momentum 0.9 with buffer 1 and gradient zero: 1 - 0.1 * 0.9.
TEST(GradTransforms, OPT_09_ZerosKeepMomentumGoing) {
  for (auto [none, expected] : {std::pair(true, 1.0f), {false, 0.91f}}) {
    Reached model;
    optim::SGD optimizer({model.w}, {.lr = 0.1, .momentum = 0.9});
    StateDict state = optimizer.state_dict();
    NoGrad off;
    Tensor buffer = state.at("opt.momentum_buffer.w");
    buffer.copy_(tensor({1}));
    {
      EnableGrad on;
      (model.w * 2).sum().backward();
    }
    optimizer.zero_grad(none);
    optimizer.step();
    EXPECT_FLOAT_EQ(model.w.item<float>(), expected) << none;
  }
}

// What a step in a function has used up counts as a gradient that there was.
TEST(GradTransforms, ZerosAfterAJittedStep) {
  Reached model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.5});
  auto step = jit(
      [&] {
        optimizer.zero_grad(false);
        (model.w * 1).sum().backward();
        optimizer.step();
      },
      {.fullgraph = true});
  for (double expected : {0.5, 0.0, -0.5}) {
    step();
    EXPECT_EQ(model.w.item(), expected);
  }
  model.zero_grad(false);
  EXPECT_EQ(model.w.grad().item(), 0);
  EXPECT_FALSE(model.other.grad().defined());
}
