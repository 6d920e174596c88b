#include "ErrorText.h"

#include <cmath>

using namespace dlc;
using Floats = std::vector<float>;

namespace {
/// A module with one parameter of one element, 1 at first.
struct One : nn::Module {
  Parameter w = parameter("w", {1}, init::ones());
  Parameter unused = parameter("unused", {1}, init::ones());
};
/// A loss whose gradient by w is `slope`.
Tensor sloped(One &model, double slope) { return (model.w * slope).sum(); }
} // namespace

TEST(Optim, SgdWithMomentum) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  Floats expected{0.9f, 0.71f, 0.439f}; // b = 1, 1.9, 2.71
  for (float value : expected) {
    optimizer.zero_grad();
    sloped(model, 1).backward();
    optimizer.step();
    EXPECT_FLOAT_EQ(model.w.item<float>(), value);
  }
  EXPECT_EQ(model.unused.item(), 1);
}

TEST(Optim, SgdNesterovAndDecay) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.5, .nesterov = true});
  sloped(model, 1).backward();
  optimizer.step();
  EXPECT_FLOAT_EQ(model.w.item<float>(), float(1 - 0.1 * (1.5 + 0.9 * 1.5)));
}

// OPT-01
TEST(Optim, OPT_01_ResumeKeepsMomentsAndCount) {
  One model;
  optim::Adam optimizer(model.parameters(), {.lr = 0.1});
  sloped(model, 1).backward();
  optimizer.step();
  EXPECT_NEAR(model.w.item(), 0.9, 1e-6);
  One again;
  optim::Adam resumed(again.parameters(), {.lr = 0.1});
  again.load_state_dict(model.state_dict());
  resumed.load_state_dict(optimizer.state_dict());
  sloped(again, 1).backward();
  resumed.step();
  EXPECT_NEAR(again.w.item(), 0.8, 1e-6);
}

// OPT-03
TEST(Optim, OPT_03_ThreeSteps) {
  One model;
  optim::Adam optimizer(model.parameters(), {.lr = 0.1});
  for (double value : {0.9, 0.8, 0.7}) {
    optimizer.zero_grad();
    sloped(model, 1).backward();
    optimizer.step();
    EXPECT_NEAR(model.w.item(), value, 1e-6);
  }
  EXPECT_EQ(optimizer.state_dict().at("opt.step").item(), 3);
}

// PyTorch's RMSprop from 1 with the gradient 2.
TEST(Optim, RMSpropFollowsPyTorch) {
  auto expectSteps = [](const optim::RMSpropOptions &options, const std::vector<double> &expected) {
    One model;
    optim::RMSprop optimizer(model.parameters(), options);
    for (double value : expected) {
      optimizer.zero_grad();
      sloped(model, 2).backward();
      optimizer.step();
      EXPECT_NEAR(model.w.item(), value, 1e-6);
    }
    EXPECT_EQ(model.unused.item(), 1);
  };
  expectSteps({}, {0.900000005, 0.8291118870, 0.7710869802});
  expectSteps({.alpha = 0.5, .centered = true}, {0.9800000002, 0.9569059897, 0.9266688323});
  expectSteps({.lr = 0.1, .alpha = 0.9, .momentum = 0.5}, {0.6837722390, 0.2962426272, -0.0896168644});
  expectSteps({.lr = 0.1, .alpha = 0.9, .weight_decay = 0.01, .momentum = 0.5, .centered = true},
              {0.6666666722, 0.2452941642, -0.1899657752});
}

// OPT-07: eps outside of the root; inside, the step would be 0.995.
TEST(Optim, OPT_07_EpsIsOutsideOfTheRoot) {
  One model;
  optim::RMSprop optimizer(model.parameters(), {.lr = 1, .alpha = 0.99, .eps = 0.01});
  sloped(model, 0.1).backward();
  optimizer.step();
  EXPECT_NEAR(model.w.item(), 1 - 5, 2e-6);
}

TEST(Optim, RMSpropState) {
  One model;
  optim::RMSprop optimizer(model.parameters(), {.momentum = 0.9, .centered = true});
  sloped(model, 2).backward();
  optimizer.step();
  StateDict state = optimizer.state_dict();
  EXPECT_NEAR(state.at("opt.square_avg.w").item(), 0.04, 1e-7);
  EXPECT_NEAR(state.at("opt.grad_avg.w").item(), 0.02, 1e-7);
  EXPECT_NEAR(state.at("opt.momentum_buffer.w").item(), 2 / std::sqrt(0.04 - 0.0004), 1e-5);
  EXPECT_EQ(state.at("opt.alpha").item(), 0.99);
  EXPECT_THROW(optim::RMSprop(model.parameters(), {.alpha = -1}), Error);
  EXPECT_THROW(optimizer.add_param_group({}, {.centered = true}), Error);
}

// OPT-05
TEST(Optim, OPT_05_DecayOfAdamAndAdamW) {
  One a, b;
  optim::Adam adam(a.parameters(), {.lr = 0.1, .weight_decay = 0.1});
  optim::AdamW adamW(b.parameters(), {.lr = 0.1, .weight_decay = 0.1});
  sloped(a, 0).backward();
  sloped(b, 0).backward();
  adam.step();
  adamW.step();
  EXPECT_NEAR(a.w.item(), 0.9, 1e-6);
  EXPECT_NEAR(b.w.item(), 0.99, 1e-6);
  EXPECT_THROW(optim::Adam(a.parameters(), {.weight_decay = -0.1}), Error);
}

// OPT-09
TEST(Optim, OPT_09_NoGradientIsNotAZeroGradient) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.1, .weight_decay = 0.1});
  sloped(model, 0).backward();
  optimizer.step();
  EXPECT_FLOAT_EQ(model.w.item<float>(), 0.99f);
  EXPECT_EQ(model.unused.item(), 1);
}

TEST(Optim, SetLrCompilesNothing) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 1});
  auto step = [&] {
    optimizer.zero_grad();
    sloped(model, 1).backward();
    optimizer.step();
    return model.w.item<float>();
  };
  EXPECT_EQ(step(), 0);
  int64_t before = dlc::testing::compile_count();
  optimizer.set_lr(0.5);
  EXPECT_EQ(step(), -0.5);
  EXPECT_EQ(optimizer.lr(), 0.5);
  EXPECT_EQ(dlc::testing::compile_count(), before);
}

TEST(Optim, CountsSplitWhenASubsetSteps) {
  One model;
  optim::Adam optimizer(model.parameters(), {.lr = 0.1});
  (model.w + model.unused).sum().backward();
  optimizer.step();
  optimizer.zero_grad();
  sloped(model, 1).backward();
  optimizer.step();
  StateDict state = optimizer.state_dict();
  EXPECT_EQ(state.at("opt.step").item(), 1);
  EXPECT_EQ(state.at("opt.step.1").item(), 2);
  EXPECT_NEAR(model.w.item(), 0.8, 1e-6);
  EXPECT_NEAR(model.unused.item(), 0.9, 1e-6);
}

TEST(Optim, ParameterGroupsHaveTheirOwnRates) {
  One model;
  optim::SGD optimizer({model.w}, {.lr = 1});
  optimizer.add_param_group({model.unused}, {.lr = 2});
  (model.w + model.unused).sum().backward();
  optimizer.step();
  EXPECT_EQ(model.w.item(), 0);
  EXPECT_EQ(model.unused.item(), -1);
  EXPECT_TRUE(optimizer.state_dict().contains("opt.groups.1.lr"));
}

TEST(Optim, AClonedParameterKeepsItsValue) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 1});
  Tensor before = model.w.clone();
  sloped(model, 1).backward();
  optimizer.step();
  EXPECT_EQ(model.w.item(), 0);
  EXPECT_EQ(before.item(), 1);
}

TEST(Optim, UX_03_SummingTheLossStaysFlat) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.5});
  Tensor total = zeros({});
  int64_t nodes = 0;
  for (int i = 0; i < 200; ++i) {
    optimizer.zero_grad();
    Tensor loss = sloped(model, 1);
    loss.backward();
    optimizer.step();
    total += loss;
    if (i == 10)
      nodes = dlc::testing::live_nodes();
  }
  EXPECT_EQ(dlc::testing::live_nodes(), nodes);
  EXPECT_FLOAT_EQ(total.item<float>(), 200 - 0.5f * 200 * 199 / 2);
}
