#include "ErrorText.h"

#include <cmath>

using namespace dlc;
using Floats = std::vector<float>;

namespace {

Tensor wave(Shape shape, double speed) {
  int64_t count = 1;
  for (int64_t extent : shape.vec())
    count *= extent;
  Floats data;
  for (int64_t i = 0; i < count; ++i)
    data.push_back(static_cast<float>(std::sin(speed * double(i) + 0.3)));
  return tensor(data, shape);
}

/// Three layers of width 16, the middle ones perhaps checkpointed.
struct Net {
  Tensor x = wave({8, 16}, 0.7);
  std::vector<Tensor> weights;

  Net() {
    for (int i = 0; i < 3; ++i)
      weights.push_back(wave({16, 16}, 0.9 + 0.1 * i).requires_grad_());
  }

  Tensor layer(const Tensor &x, int i) const { return tanh(matmul(x, weights[size_t(i)])) * sigmoid(x); }

  Tensor plain() const { return layer(layer(layer(x, 0), 1), 2).sum(); }
  Tensor checkpointed() const {
    Tensor y = x;
    for (int i = 0; i < 3; ++i)
      y = checkpoint([&](const Tensor &x) { return layer(x, i); }, y);
    return y.sum();
  }
  Tensor nested() const {
    auto inner = checkpoint([this](const Tensor &x, int) { return layer(x, 1); });
    return checkpoint([&](const Tensor &x) { return layer(inner(layer(x, 0), 0), 2); })(x).sum();
  }

  /// Loss and gradients, bit by bit.
  Floats bits(const Tensor &loss) {
    loss.backward();
    Floats all = loss.reshape({1}).to_vector<float>();
    for (Tensor &weight : weights) {
      Floats gradient = weight.grad().to_vector<float>();
      all.insert(all.end(), gradient.begin(), gradient.end());
      weight.zero_grad();
    }
    return all;
  }
};

} // namespace

TEST(Recomputation, CheckpointsGiveTheSameBits) {
  Net net;
  Floats expected = net.bits(net.plain());
  EXPECT_EQ(net.bits(net.checkpointed()), expected);
  EXPECT_EQ(net.bits(net.nested()), expected);
}

// d/dw of sum((x w)²) is 2 x² w; by hand.
TEST(Recomputation, GradientsAreRight) {
  Tensor x = tensor({1, 2, 3}), w = tensor({4, 5, 6}).requires_grad_(), a = tensor({2, 2, 2}).requires_grad_();
  Tensor y = checkpoint([&](const Tensor &x) { return (x * w) * (x * w) + a; }, x);
  (y * tensor({1, 10, 100})).sum().backward();
  EXPECT_EQ(w.grad().to_vector<float>(), (Floats{8, 400, 10800}));
  EXPECT_EQ(a.grad().to_vector<float>(), (Floats{1, 10, 100}));
}

TEST(Recomputation, SecondDerivativesGoThrough) {
  Tensor x = tensor({0.5f, -1.0f, 2.0f}).requires_grad_();
  Tensor y = checkpoint([](const Tensor &x) { return x * x * x; }, x).sum();
  Tensor first = grad(y, {x}, {.create_graph = true})[0];
  Tensor second = grad(first.sum(), {x})[0];
  EXPECT_EQ(first.to_vector<float>(), (Floats{0.75f, 3, 12}));
  EXPECT_EQ(second.to_vector<float>(), (Floats{3, -6, 12}));
}

TEST(Recomputation, InsideJitItTrainsAlike) {
  auto curve = [](bool checkpoints) {
    Net net;
    auto step = jit([&] {
      Tensor loss = checkpoints ? net.checkpointed() : net.plain();
      loss.backward();
      NoGrad off;
      for (Tensor &weight : net.weights) {
        weight -= weight.grad() * 0.1f;
        weight.zero_grad();
      }
      return loss;
    });
    Floats losses;
    for (int i = 0; i < 4; ++i)
      losses.push_back(step().item<float>());
    return losses;
  };
  Floats expected = curve(false);
  EXPECT_NE(expected[0], expected[3]);
  EXPECT_EQ(curve(true), expected);
}

// A sum over the steps, as running statistics are: not once more by the backward pass.
TEST(Recomputation, WhatItChangesChangesOnce) {
  Tensor w = tensor({2, 3}).requires_grad_(), count = tensor({0, 0});
  for (int i = 0; i < 2; ++i) {
    Tensor y = checkpoint([&] {
      Tensor y = w * w;
      {
        NoGrad off;
        count += y;
      }
      return y * count;
    })();
    y.sum().backward();
  }
  EXPECT_EQ(count.to_vector<float>(), (Floats{8, 18}));
  EXPECT_EQ(w.grad().to_vector<float>(), (Floats{2 * 2 * (4 + 8), 2 * 3 * (9 + 18)}));
}

TEST(Recomputation, ReturnsSeveralTensors) {
  Tensor x = tensor({1, 2}).requires_grad_();
  auto [a, b] = checkpoint([](const Tensor &x) { return std::pair<Tensor, Tensor>{x * x, x * 3}; }, x);
  (a + b).sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{5, 7}));
}

TEST(Recomputation, ScanInsideACheckpoint) {
  Tensor xs = wave({5, 4}, 0.4), w = wave({4}, 0.8).detach().requires_grad_();
  auto run = [&](bool checkpoints) {
    auto body = [&](const Tensor &xs) {
      return scan(
                 [&](Tensor before, Tensor x) {
                   Tensor now = tanh(before * w + x);
                   return std::pair<Tensor, Tensor>{now, now};
                 },
                 zeros({4}), xs)
          .first;
    };
    Tensor loss = (checkpoints ? checkpoint(body, xs) : body(xs)).sum();
    loss.backward();
    Floats bits = w.grad().to_vector<float>();
    w.zero_grad();
    return bits;
  };
  EXPECT_EQ(run(true), run(false));
}

// Parameters that are still to be computed when the body reads them first, and that each call changes.
TEST(Recomputation, LeavesComputedOutsideAreLeavesInside) {
  for (bool jitted : {false, true})
    for (bool scans : {false, true}) {
      Tensor w = (tensor({2, 4}) * 0.5f).detach().requires_grad_(), x = tensor({3, 1});
      auto square = [&](const Tensor &x) { return x * w * w; };
      auto step = [&] {
        auto in = [&](Tensor sum, Tensor x) { return std::pair<Tensor, Tensor>{sum + square(x), x}; };
        Tensor loss = scans ? checkpoint([&] { return scan(in, zeros({2}), x.reshape({2, 1})).first; })().sum()
                            : checkpoint([&] { return checkpoint(square)(x); })().sum();
        loss.backward();
        NoGrad off;
        w -= w.grad() * 0.25f;
        w.zero_grad();
        return loss;
      };
      auto compiled = jit(step);
      // With scan both elements are multiplied by 3 and 1: the sum is 4 w².
      Floats expected = scans ? Floats{20, 20, 20} : Floats{7, 1.75f, 0.4375f};
      Floats losses;
      for (int call = 0; call < 3; ++call)
        losses.push_back((jitted ? compiled() : step()).item<float>());
      EXPECT_EQ(losses, expected) << jitted << scans;
    }
}

// The least that holds three layers' values is far below what keeping all of them takes.
TEST(Recomputation, JitKeepsABudgetWithTheSameBits) {
  Net net;
  auto step = [&] {
    Tensor loss = net.plain();
    loss.backward();
    Tensor sum = net.weights[0].grad();
    for (Tensor &weight : net.weights)
      weight.zero_grad();
    return std::tuple<Tensor, Tensor>{loss, sum};
  };
  auto plain = jit(step);
  auto [loss, gradient] = plain();
  if (plain.report().peak_bytes == 0)
    GTEST_SKIP() << "the reference evaluator plans no memory";
  int64_t bytes = plain.report().activation_bytes, budget = bytes * 9 / 10;
  auto less = jit(step, {.activation_budget = budget});
  auto [loss2, gradient2] = less();
  EXPECT_GT(less.report().activation_bytes, 0);
  EXPECT_LE(less.report().activation_bytes, budget);
  EXPECT_EQ(loss.item<float>(), loss2.item<float>());
  EXPECT_EQ(gradient.to_vector<float>(), gradient2.to_vector<float>());
  auto limited = jit(step, {.memory_limit = plain.report().peak_bytes - bytes / 10});
  EXPECT_EQ(std::get<0>(limited()).item<float>(), loss.item<float>());
  EXPECT_LE(limited.report().peak_bytes, plain.report().peak_bytes - bytes / 10);
  auto none = jit(step, {.activation_budget = 1});
  try {
    none();
    ADD_FAILURE() << "no error";
  } catch (const Error &error) {
    EXPECT_NE(error.message().find("expects to need at most 1 bytes of activations, got "), std::string::npos)
        << error.message();
    // Which values.
    EXPECT_NE(error.message().find("RecomputationTest.cpp"), std::string::npos) << error.message();
  }
  EXPECT_ERROR("jit: expected limits of 0 bytes or more, got -1", jit(step, {.memory_limit = -1})());
}

TEST(Recomputation, DropsTheSameElementsAgain) {
  auto run = [](bool checkpoints) {
    manual_seed(5);
    Tensor x = wave({8, 16}, 0.7), w = wave({16, 16}, 0.9).requires_grad_();
    auto layer = [&](const Tensor &x) { return dropout(tanh(matmul(x, w)), 0.5); };
    Tensor y = dropout(x, 0.25);
    y = checkpoints ? checkpoint(layer, y) : layer(y);
    Tensor loss = dropout(y * y, 0.25).sum();
    loss.backward();
    Floats bits = w.grad().to_vector<float>();
    bits.push_back(loss.item<float>());
    return bits;
  };
  EXPECT_EQ(run(true), run(false));
}

// What goes in and comes out is f32, and holds 16 bits exactly.
TEST(Recomputation, MixedPrecisionHasTheSameBits) {
  auto run = [](bool checkpoints) {
    Net net;
    Autocast scope(bf16);
    return net.bits(checkpoints ? net.nested() : net.plain());
  };
  EXPECT_EQ(run(true), run(false));
}
