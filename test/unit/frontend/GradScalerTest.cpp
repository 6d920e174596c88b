#include "ErrorText.h"

#include "../TestFile.h"

#include <cmath>
#include <limits>
#include <set>

using namespace dlc;
using Floats = std::vector<float>;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct One : nn::Module {
  Parameter w = parameter("w", {1}, init::ones());
};
struct Two : nn::Module {
  Parameter w = parameter("w", {2}, init::zeros());
};

/// A loss whose gradient by w is the slope.
Tensor sloped(const Parameter &w, double slope) { return (w * tensor({slope})).sum(); }

} // namespace

// AMP-01
TEST(GradScaler, AMP_01_ClipsTrueGradients) {
  Two model;
  optim::SGD optimizer(model.parameters(), {.lr = 1});
  GradScaler scaler({.init_scale = 1024});
  scaler.scale((model.w * tensor({3, 4})).sum()).backward();
  EXPECT_EQ(model.w.grad().to_vector<float>(), (Floats{3072, 4096}));
  scaler.unscale_(optimizer);
  Tensor norm = nn::utils::clip_grad_norm_(model.parameters(), 1);
  scaler.step(optimizer);
  scaler.update();
  EXPECT_FLOAT_EQ(norm.item<float>(), 5);
  EXPECT_NEAR(model.w.to_vector<double>()[0], -0.6, 1e-6);
  EXPECT_NEAR(model.w.to_vector<double>()[1], -0.8, 1e-6);
}

// AMP-01
TEST(GradScaler, AMP_01_ClippingBeforeIsAnError) {
  Two model;
  optim::SGD optimizer(model.parameters(), {.lr = 1});
  GradScaler scaler;
  Tensor loss = (model.w * tensor({3, 4})).sum();
  Tensor scaled = scaler.scale(loss); // this line is in the messages
  std::string site = "scaler.scale, GradScalerTest.cpp:" + std::to_string(__LINE__ - 1);
  scaled.backward();
  std::string rest = ": gradients are still scaled (" + site + "); call scaler.unscale_(optimizer) first";
  EXPECT_ERROR("clip_grad_norm_" + rest, nn::utils::clip_grad_norm_(model.parameters(), 1));
  EXPECT_ERROR("clip_grad_value_" + rest, nn::utils::clip_grad_value_(model.parameters(), 1));
  EXPECT_ERROR("standardize_grad_" + rest, nn::utils::standardize_grad_(model.parameters()));
  EXPECT_ERROR("step: gradients of opt are still scaled (" + site +
                   "); call scaler.step(optimizer), and unscale_() only behind the last backward()",
               optimizer.step());
}

// AMP-03
TEST(GradScaler, AMP_03_TheScaleStaysFinite) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 1});
  GradScaler scaler({.growth_interval = 1});
  auto step = jit(
      [&] {
        optimizer.zero_grad();
        scaler.scale(sloped(model.w, 1e-30)).backward();
        scaler.step(optimizer);
        scaler.update();
      },
      {.fullgraph = true});
  for (int i = 0; i < 200; ++i)
    step();
  EXPECT_EQ(scaler.get_scale(), std::ldexp(1.0, 127));
  EXPECT_EQ(model.w.item(), 1);
}

// AMP-05
TEST(GradScaler, AMP_05_UpdateWithoutStep) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 1});
  GradScaler scaler;
  auto scaledBackward = [&] {
    optimizer.zero_grad();
    scaler.scale(sloped(model.w, 0.25)).backward();
  };
  scaledBackward();
  scaler.unscale_(optimizer);
  scaler.update();
  scaledBackward();
  scaler.unscale_(optimizer);
  EXPECT_EQ(model.w.grad().item(), 0.25);
  EXPECT_ERROR("unscale_: already called for opt since the last update(); call scaler.update() at the end of each step",
               scaler.unscale_(optimizer));
  scaler.step(optimizer);
  EXPECT_ERROR(
      "unscale_: called behind step() for opt since the last update(); call scaler.update() at the end of each step",
      scaler.unscale_(optimizer));
  EXPECT_ERROR("step: already called for opt since the last update(); call scaler.update() at the end of each step",
               scaler.step(optimizer));
  EXPECT_EQ(model.w.item(), 0.75);
}

// AMP-07
TEST(GradScaler, AMP_07_ResumeKeepsScaleAndCount) {
  dlc::test::TemporaryFolder folder;
  auto train = [](One &model, optim::SGD &optimizer, GradScaler &scaler, double slope) {
    optimizer.zero_grad();
    scaler.scale(sloped(model.w, slope)).backward();
    scaler.step(optimizer);
    scaler.update();
  };
  GradScalerOptions options{.growth_interval = 5};
  {
    One model;
    optim::SGD optimizer(model.parameters(), {.lr = 0.125});
    GradScaler scaler(options);
    for (double slope : {kInf, 1.0, 1.0, 1.0})
      train(model, optimizer, scaler, slope);
    EXPECT_EQ(model.w.item(), 0.625);
    save_checkpoint(folder.file("c"), 4, {model, optimizer, scaler});
  }
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.125});
  GradScaler scaler(options);
  ASSERT_TRUE(resume(folder.file("c"), {model, optimizer, scaler}).found);
  EXPECT_EQ(scaler.get_scale(), 32768);
  EXPECT_EQ(scaler.state_dict().at("scaler.scale").item(), 32768);
  EXPECT_EQ(scaler.state_dict().at("scaler.growth_tracker").item(), 3);
  train(model, optimizer, scaler, 1);
  EXPECT_EQ(scaler.get_scale(), 32768);
  train(model, optimizer, scaler, 1);
  EXPECT_EQ(scaler.get_scale(), 65536);
  EXPECT_EQ(scaler.state_dict().at("scaler.growth_tracker").item(), 0);
  EXPECT_EQ(model.w.item(), 0.375);
}

// OPT-03: Adam's moments and count skip with the parameter, inside jit without a look from the host.
TEST(GradScaler, OPT_03_SkippedStepsDoNotCount) {
  for (bool jitted : {true, false}) {
    One model;
    optim::Adam optimizer(model.parameters(), {.lr = 0.1});
    GradScaler scaler;
    auto body = [&](const Tensor &slope) {
      optimizer.zero_grad();
      scaler.scale((model.w * slope).sum()).backward();
      scaler.step(optimizer);
      scaler.update();
    };
    auto step = jit([&](Tensor slope) { body(slope); }, {.fullgraph = true});
    std::vector<std::pair<double, double>> slopes{{1, 0.9}, {std::nan(""), 0.9}, {1, 0.8}};
    for (auto [slope, expected] : slopes) {
      jitted ? step(tensor({slope})) : body(tensor({slope}));
      EXPECT_NEAR(model.w.item(), expected, 1e-6);
    }
    EXPECT_EQ(optimizer.state_dict().at("opt.step").item(), 2);
    EXPECT_EQ(scaler.get_scale(), 32768);
  }
}

TEST(GradScaler, EachOptimizerHasItsOwnCheck) {
  struct Pair : nn::Module {
    Parameter a = parameter("a", {1}, init::ones()), b = parameter("b", {1}, init::ones());
  } model;
  optim::SGD first({model.a}, {.lr = 0.5, .name = "first"}), second({model.b}, {.lr = 0.5, .name = "second"});
  GradScaler scaler({.init_scale = 8, .growth_interval = 1});
  auto step = jit(
      [&](Tensor slopes) {
        first.zero_grad();
        second.zero_grad();
        scaler.scale((model.a * slopes[0]).sum()).backward();
        scaler.scale((model.b * slopes[1]).sum()).backward();
        scaler.step(first);
        scaler.step(second);
        scaler.update();
      },
      {.fullgraph = true});
  step(tensor({1, kInf}));
  EXPECT_EQ(model.a.item(), 0.5);
  EXPECT_EQ(model.b.item(), 1);
  EXPECT_EQ(scaler.get_scale(), 4);
  step(tensor({1, 1}));
  EXPECT_EQ(model.a.item(), 0);
  EXPECT_EQ(model.b.item(), 0.5);
  EXPECT_EQ(scaler.get_scale(), 8);
}

TEST(GradScaler, AccumulatesOverCalls) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 1});
  GradScaler scaler({.init_scale = 1024});
  std::string line = std::to_string(__LINE__ + 1);
  auto add = jit([&](Tensor slope) { scaler.scale((model.w * slope).sum()).backward(); }, {.fullgraph = true});
  auto finish = jit(
      [&] {
        scaler.step(optimizer);
        scaler.update();
        optimizer.zero_grad();
      },
      {.fullgraph = true});
  for (int i = 0; i < 3; ++i) {
    add(tensor({0.125}));
    add(tensor({0.25}));
    EXPECT_EQ(model.w.grad().item(), 384);
    finish();
    EXPECT_EQ(model.w.item(), 1 - 0.375 * (i + 1));
  }
  EXPECT_EQ(scaler.state_dict().at("scaler.growth_tracker").item(), 3);
  add(tensor({0.125}));
  EXPECT_ERROR("clip_grad_value_: gradients are still scaled (scaler.scale, GradScalerTest.cpp:" + line +
                   "); call scaler.unscale_(optimizer) first",
               nn::utils::clip_grad_value_(model.parameters(), 1));
}

TEST(GradScaler, UnscalesInACallOfItsOwn) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 1});
  GradScaler scaler({.init_scale = 1024});
  auto backward = jit([&](Tensor slope) { scaler.scale((model.w * slope).sum()).backward(); });
  auto unscale = jit([&] { scaler.unscale_(optimizer); });
  auto step = jit([&] { scaler.step(optimizer); });
  auto update = jit([&] { scaler.update(); });
  std::vector<std::pair<double, double>> slopes{{0.25, 0.75}, {kInf, 0.75}, {0.25, 0.5}, {0.25, 0.25}};
  for (auto [slope, expected] : slopes) {
    optimizer.zero_grad();
    backward(tensor({slope}));
    unscale();
    EXPECT_EQ(model.w.grad().item(), slope);
    EXPECT_THROW(unscale(), Error);
    step();
    EXPECT_THROW(step(), Error);
    update();
    EXPECT_THROW(update(), Error);
    EXPECT_EQ(model.w.item(), expected);
  }
  EXPECT_EQ(scaler.get_scale(), 512);
}

TEST(GradScaler, AccumulateTakesScaledLosses) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 1});
  GradScaler scaler({.init_scale = 1024});
  auto step = jit(
      [&](Tensor x, Tensor y) {
        optimizer.zero_grad();
        Tensor loss = accumulate(
            2, [&](Tensor part, Tensor target) { return scaler.scale((part * model.w - target).mean()); }, x, y);
        scaler.unscale_(optimizer);
        Tensor norm = nn::utils::clip_grad_norm_(model.parameters(), 100);
        scaler.step(optimizer);
        scaler.update();
        return std::pair(loss, norm);
      },
      {.fullgraph = true});
  auto [loss, norm] = step(tensor({{1}, {2}, {3}, {4}, {5}}), zeros({5, 1}));
  EXPECT_EQ(loss.item(), 3 * 1024);
  EXPECT_FLOAT_EQ(norm.item<float>(), 3);
  EXPECT_FLOAT_EQ(model.w.item<float>(), -2);
}

TEST(GradScaler, StaticScaleStays) {
  for (GradScalerOptions options : {GradScalerOptions{.init_scale = 128, .growth_interval = 0},
                                    GradScalerOptions{.init_scale = 128, .growth_interval = 1, .dynamic = false}}) {
    One model;
    optim::SGD optimizer(model.parameters(), {.lr = 0.25});
    GradScaler scaler(options);
    for (double slope : {1.0, kInf, 1.0}) {
      optimizer.zero_grad();
      scaler.scale(sloped(model.w, slope)).backward();
      scaler.step(optimizer);
      scaler.update();
    }
    EXPECT_EQ(scaler.get_scale(), 128);
    EXPECT_EQ(model.w.item(), 0.5);
  }
}

TEST(GradScaler, DisabledDoesNothing) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 1});
  GradScaler scaler({.enabled = false});
  Tensor loss = sloped(model.w, 0.25);
  EXPECT_EQ(scaler.scale(loss).item(), 0.25);
  scaler.scale(sloped(model.w, 0.25)).backward();
  scaler.unscale_(optimizer);
  nn::utils::clip_grad_norm_(model.parameters(), 1);
  scaler.step(optimizer);
  scaler.update();
  scaler.update();
  EXPECT_EQ(model.w.item(), 0.75);
  EXPECT_EQ(scaler.get_scale(), 1);
}

TEST(GradScaler, WhatCannotBeIsAnError) {
  EXPECT_ERROR("GradScaler: expected an init_scale above 0 and finite in f32", GradScaler({.init_scale = 1e39}));
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 1});
  GradScaler scaler, other({.name = "other"});
  EXPECT_ERROR("unscale_: no parameter of opt has a gradient; call scaler.scale(loss).backward() first",
               scaler.unscale_(optimizer));
  EXPECT_ERROR("update: no gradients were checked since the last update(); call scaler.step(optimizer) first",
               scaler.update());
  sloped(model.w, 1).backward();
  EXPECT_ERROR("unscale_: gradient of w is not scaled by scaler.scale; compute it by scaler.scale(loss).backward()",
               scaler.unscale_(optimizer));
  std::string line = std::to_string(__LINE__ + 1);
  Tensor scaled = scaler.scale(sloped(model.w, 1));
  EXPECT_ERROR("backward: gradient of w is not scaled and this loss is (scaler.scale, GradScalerTest.cpp:" + line +
                   "); call zero_grad() in each step",
               scaled.backward());
  optimizer.zero_grad();
  std::string second = std::to_string(__LINE__ + 1);
  scaler.scale(sloped(model.w, 1)).backward();
  EXPECT_ERROR("unscale_: gradient of w is not scaled by other.scale; compute it by scaler.scale(loss).backward()",
               other.unscale_(optimizer));
  EXPECT_ERROR("backward: gradient of w is scaled (scaler.scale, GradScalerTest.cpp:" + second +
                   ") and this loss is not; scale it too, or call zero_grad()",
               sloped(model.w, 1).backward());
  std::string third = std::to_string(__LINE__ + 1);
  Tensor sum = scaler.scale(sloped(model.w, 1)) + sloped(model.w, 2);
  EXPECT_ERROR("backward: a part of the loss is scaled (scaler.scale, GradScalerTest.cpp:" + third +
                   "), another is not; scale their sum",
               sum.backward());
  Tensor early = scaler.scale(sloped(model.w, 1));
  scaler.step(optimizer);
  scaler.update();
  optimizer.zero_grad();
  EXPECT_THROW(early.backward(), Error);
}

// Scaled before the last update, by another optimizer's: what unscale_() would divide by is another scale.
TEST(GradScaler, GradientsOfAnOldScaleAreAnError) {
  struct Pair : nn::Module {
    Parameter a = parameter("a", {1}, init::ones()), b = parameter("b", {1}, init::ones());
  } model;
  optim::SGD first({model.a}, {.lr = 1, .name = "first"}), second({model.b}, {.lr = 1, .name = "second"});
  GradScaler scaler;
  std::string line = std::to_string(__LINE__ + 1);
  scaler.scale((model.a + model.b).sum()).backward();
  scaler.step(first);
  scaler.update();
  std::string rest = "was scaled (scaler.scale, GradScalerTest.cpp:" + line + ") before the last update(); ";
  EXPECT_ERROR("unscale_: gradient of b " + rest + "unscale second or call zero_grad() before update()",
               scaler.step(second));
  EXPECT_ERROR("backward: gradient of b " + rest + "call zero_grad() in each step",
               scaler.scale(sloped(model.b, 1)).backward());
}

// OPT-09
TEST(GradScaler, OPT_09_ZerosFitEveryScale) {
  One model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.5});
  GradScaler scaler({.init_scale = 4, .growth_interval = 1});
  auto step = jit(
      [&](Tensor slope) {
        optimizer.zero_grad(false);
        scaler.scale((model.w * slope).sum()).backward();
        scaler.step(optimizer);
        scaler.update();
      },
      {.fullgraph = true});
  for (double expected : {0.5, 0.0, -0.5, -1.0}) {
    step(tensor({1}));
    EXPECT_EQ(model.w.item(), expected);
  }
  EXPECT_EQ(scaler.get_scale(), 64);
}

namespace {

/// The rules, once more: what a sequence of calls does to one parameter whose loss has the slope 1.
struct Rules {
  double w = 1, scale = 4, count = 0;
  bool hasGradient = false, scaledGradient = false, hasLoss = false;
  double gradient = 0, lossFactor = 1;
  enum { Ready, Unscaled, Stepped } stage = Ready;
  int updates = 0, lossUpdates = 0, steps = 0, lossSteps = 0;

  /// False where it is an Error.
  bool operator()(char call, bool zeroGradients) {
    switch (call) {
    case 's':
      hasLoss = true;
      lossFactor = scale;
      lossUpdates = updates;
      lossSteps = steps;
      return true;
    case 'b': {
      bool scaled = hasLoss;
      if (scaled && (lossUpdates != updates || lossSteps != steps)) // it read the parameter before it changed
        return false;
      if (hasGradient && scaledGradient != scaled)
        return false;
      gradient += scaled ? lossFactor : 1;
      hasGradient = true;
      scaledGradient = scaled;
      hasLoss = false;
      return true;
    }
    case 'u':
      return stage == Ready && unscale();
    case 'c':
      if (hasGradient && scaledGradient)
        return false;
      gradient = std::min(gradient, 0.5);
      return true;
    case 't':
      if (stage == Stepped || (stage == Ready && !unscale()) || scaledGradient)
        return false;
      w -= gradient;
      ++steps;
      stage = Stepped;
      return true;
    default:
      if (stage == Ready)
        return false;
      stage = Ready;
      ++updates;
      if (++count == 2) {
        scale *= 2;
        count = 0;
      }
      if (zeroGradients) {
        hasGradient = scaledGradient = false;
        gradient = 0;
      }
      return true;
    }
  }

  bool unscale() {
    if (!hasGradient || !scaledGradient)
      return false;
    gradient /= scale;
    scaledGradient = false;
    stage = Unscaled;
    return true;
  }
};

// s: scale, b: backward, u: unscale, c: clip, t: step, p: update.
constexpr const char *kCalls = "sbuctp";
constexpr size_t kLongest = 6;

/// The calls themselves.
struct Calls {
  One model;
  optim::SGD optimizer{model.parameters(), {.lr = 1}};
  GradScaler scaler{{.init_scale = 4, .growth_interval = 2}};

  void operator()(char call, bool zeroGradients, Tensor &loss) {
    switch (call) {
    case 's':
      loss = scaler.scale(sloped(model.w, 1));
      return;
    case 'b':
      (loss.defined() ? loss : sloped(model.w, 1)).backward();
      loss = Tensor();
      return;
    case 'u':
      return scaler.unscale_(optimizer);
    case 'c':
      return nn::utils::clip_grad_value_(model.parameters(), 0.5);
    case 't':
      return scaler.step(optimizer);
    default:
      scaler.update();
      if (zeroGradients)
        optimizer.zero_grad();
    }
  }

  /// Records the legal calls of the sequence; where `refused` is not known yet, also those that are Errors on the way,
  /// which must change nothing. Nothing is left of any.
  void record(const std::string &sequence, bool zeroGradients, std::set<std::string> &refused) {
    struct Done {};
    auto function = jit([&] {
      Tensor loss;
      Rules rules;
      for (size_t i = 0; i < sequence.size(); ++i) {
        std::string before = sequence.substr(0, i);
        for (char call : std::string(kCalls))
          if (Rules after = rules; !after(call, zeroGradients) && refused.insert(before + call).second)
            EXPECT_THROW((*this)(call, zeroGradients, loss), Error) << before << call;
        EXPECT_NO_THROW((*this)(sequence[i], zeroGradients, loss)) << before << sequence[i];
        rules(sequence[i], zeroGradients);
      }
      throw Done();
    });
    EXPECT_THROW(function(), Done);
  }
};

/// Visits all sequences whose calls but the last are legal.
template <typename Visit>
void forEachSequence(const std::string &before, const Rules &rules, size_t length, bool zeroGradients,
                     const Visit &visit) {
  for (char call : std::string(kCalls)) {
    Rules after = rules;
    bool isLegal = after(call, zeroGradients);
    std::string sequence = before + call;
    visit(sequence, isLegal, after);
    if (isLegal && sequence.size() < length)
      forEachSequence(sequence, after, length, zeroGradients, visit);
  }
}

} // namespace

TEST(GradScaler, EveryOrderOfUpToSixCalls) {
  for (bool zeroGradients : {true, false}) {
    Calls calls;
    std::set<std::string> legal, illegal, refused;
    forEachSequence("", {}, kLongest, zeroGradients, [&](const std::string &sequence, bool isLegal, const Rules &) {
      (isLegal ? legal : illegal).insert(sequence);
      if (isLegal && sequence.size() == kLongest) // shorter ones are on the way to it
        calls.record(sequence, zeroGradients, refused);
    });
    EXPECT_GT(legal.size(), 1000u);
    EXPECT_GT(illegal.size(), 1000u);
    EXPECT_EQ(refused, illegal);
    EXPECT_FALSE(calls.model.w.grad().defined());
    EXPECT_EQ(calls.model.w.item(), 1);
  }
}

// And what they compute, where they end with an update.
TEST(GradScaler, LegalOrdersComputeWhatTheRulesSay) {
  size_t count = 0;
  for (bool zeroGradients : {true, false})
    forEachSequence("", {}, 5, zeroGradients, [&](const std::string &sequence, bool isLegal, const Rules &rules) {
      if (!isLegal || sequence.back() != 'p' || sequence[0] != 's')
        return;
      ++count;
      Calls calls;
      Tensor loss;
      for (char call : sequence)
        calls(call, zeroGradients, loss);
      EXPECT_EQ(calls.model.w.item(), rules.w) << sequence;
      EXPECT_EQ(calls.scaler.get_scale(), rules.scale) << sequence;
      Tensor gradient = calls.model.w.grad();
      ASSERT_EQ(gradient.defined(), rules.hasGradient) << sequence;
      if (gradient.defined())
        EXPECT_EQ(gradient.item(), rules.gradient) << sequence;
    });
  EXPECT_GT(count, 8u);
}
