#include "ErrorText.h"

#include <cmath>

using namespace dlc;
using Floats = std::vector<float>;

TEST(Grad, BackwardGivesAndAccumulates) {
  Tensor x = tensor({1, 2, 3}).requires_grad_();
  (x * x).sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{2, 4, 6}));
  (x * 3).sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{5, 7, 9}));
  x.zero_grad();
  EXPECT_FALSE(x.grad().defined());
}

TEST(Grad, NothingFlowsThroughNoGradOrDetach) {
  Tensor x = tensor({1, 2}).requires_grad_(), scale;
  {
    NoGrad off;
    scale = x * 10;
    EXPECT_FALSE(scale.requires_grad());
  }
  (x * scale + x.detach() * x + stop_gradient(x) * x).sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{12, 24}));
}

TEST(Grad, ReadingTheLossBeforeBackwardChangesNothing) {
  Tensor x = tensor({0.5, -2}).requires_grad_();
  Tensor loss = (relu(x) * exp(x)).sum();
  float value = loss.item<float>();
  loss.backward();
  EXPECT_FLOAT_EQ(value, 0.5f * std::exp(0.5f));
  EXPECT_FLOAT_EQ(x.grad().to_vector<float>()[0], 1.5f * std::exp(0.5f));
  EXPECT_EQ(x.grad().to_vector<float>()[1], 0);
}

TEST(Grad, InPlaceOnIntermediatesIsRight) {
  Tensor x = tensor({1, 2, 3}).requires_grad_();
  Tensor y = x * 2;
  y[1] = y[0] * y[2];
  y.sum().backward(); // 2a + 4ac + 2c
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{14, 0, 6}));
}

TEST(Grad, HigherOrder) {
  Tensor x = tensor(3).requires_grad_();
  Tensor y = x * x * x;
  Tensor first = grad(y, {x}, {.create_graph = true})[0];
  EXPECT_EQ(first.item(), 27);
  EXPECT_EQ(grad(first, {x})[0].item(), 18);
  EXPECT_FALSE(x.grad().defined());
}

TEST(Grad, AllowUnusedGivesZeros) {
  Tensor x = tensor({1, 2}).requires_grad_(), y = tensor({5}).requires_grad_();
  EXPECT_ERROR("grad: output does not depend on input 1; pass {.allow_unused = true} for zeros", grad(x.sum(), {x, y}));
  EXPECT_EQ(grad(x.sum(), {x, y}, {.allow_unused = true})[1].to_vector<float>(), (Floats{0}));
}

TEST(Grad, Messages) {
  Tensor x = tensor({1, 2}).requires_grad_(), plain = tensor({1, 2});
  EXPECT_ERROR("backward: loss does not depend on any tensor that requires a gradient", plain.sum().backward());
  EXPECT_ERROR("backward: expected one element, got shape [2]; reduce it first", (x * 2).backward());
  EXPECT_ERROR("add_: in-place change of a tensor, which requires a gradient; wrap it in dlc::NoGrad", x += 1);
  Tensor loss = (x * x).sum();
  loss.backward();
  std::string used = "GradTest.cpp:" + std::to_string(__LINE__ - 1);
  EXPECT_ERROR("backward: graph already used at " + used + "; pass {.retain_graph = true}", loss.backward());
}

TEST(Grad, RetainedGraphsServeTwice) {
  Tensor x = tensor({1, 2}).requires_grad_();
  Tensor loss = (x * x).sum();
  loss.backward({.retain_graph = true});
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{2, 4}));
  loss.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{4, 8}));
}

TEST(Grad, ReadingAValueBetweenLosesNothing) {
  Tensor x = tensor({1, 2}).requires_grad_();
  Tensor y = x * x;
  EXPECT_EQ(y.to_vector<float>(), (Floats{1, 4}));
  Tensor z = y * x;
  (y * z).sum().backward(); // x^5
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{5, 80}));
}

TEST(Grad, AGraphThatReadAnOldParameterIsRefused) {
  Tensor x = tensor({1, 2}).requires_grad_();
  Tensor loss = (x * x).sum();
  std::string read = "GradTest.cpp:" + std::to_string(__LINE__ - 1);
  {
    NoGrad off;
    x += 1;
  }
  std::string written = "GradTest.cpp:" + std::to_string(__LINE__ - 2);
  EXPECT_ERROR("backward: a tensor was updated at " + written + " after this graph read it (" + read + ")",
               loss.backward());
  (x * 3).sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{3, 3}));
}

TEST(Grad, KeptGraphsAreDroppedWhenStale) {
  Tensor x = tensor({1, 2}).requires_grad_();
  int64_t before = dlc::testing::live_nodes();
  std::vector<Tensor> losses;
  for (int i = 0; i < 5; ++i) {
    losses.push_back((x * x).sum());
    losses.back().item();
  }
  NoGrad off;
  x -= 1;
  x.to_vector<float>();
  EXPECT_EQ(losses[4].item(), 5);
  EXPECT_EQ(dlc::testing::live_nodes(), before);
}
