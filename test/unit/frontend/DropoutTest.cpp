#include "ErrorText.h"

#include "dlc/runtime/Philox.h"

#include <cmath>
#include <limits>

using namespace dlc;
using Row = std::vector<double>;

namespace {

/// 1 / (1 - p) where the element's word of Philox is at least p 2^32, else 0.
Row expected(uint64_t seed, uint64_t draw, size_t count, double p) {
  Row row;
  for (size_t i = 0; i < count; ++i)
    row.push_back(philox(seed, draw, i)[0] < p * 0x1p32 ? 0 : double(float(1 / (1 - p))));
  return row;
}

struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(4, 16));
  nn::Dropout drop = add("drop", nn::Dropout(0.25));
  nn::Linear fc2 = add("fc2", nn::Linear(16, 3));
  Tensor forward(Tensor x) override { return fc2(drop(drop(relu(fc1(x))))); }
};

Tensor inputs() { return sin(arange(20.0).to(f32)).reshape({5, 4}); }

} // namespace

TEST(Dropout, IsPhiloxOfTheElement) {
  manual_seed(7);
  EXPECT_EQ(dropout(ones({3, 11}), 0.25).to_vector<double>(), expected(7, 0, 33, 0.25));
  EXPECT_EQ(dropout(ones({40}), 0.75).to_vector<double>(), expected(7, 1, 40, 0.75));
  EXPECT_NE(expected(7, 0, 33, 0.25), expected(7, 1, 33, 0.25));
  manual_seed(7);
  EXPECT_EQ(dropout(ones({33}), 0.25).to_vector<double>(), expected(7, 0, 33, 0.25));
}

TEST(Dropout, DropsTheShareAsked) {
  manual_seed(1);
  for (double p : {0.1, 0.5, 0.9}) {
    double kept = (dropout(ones({200, 500}), p) != 0).to(f64).mean().item();
    EXPECT_NEAR(kept, 1 - p, 5 * std::sqrt(p * (1 - p) / 1e5)) << p;
  }
}

TEST(Dropout, Borders) {
  double inf = std::numeric_limits<double>::infinity();
  Tensor x = tensor({1, inf, std::nan("")});
  EXPECT_EQ(dropout(x, 1).to_vector<double>(), (Row{0, 0, 0}));
  EXPECT_TRUE(dropout(x, 0).shares_storage_with(x));
  EXPECT_TRUE(dropout(x, 0.5, false).shares_storage_with(x));
  EXPECT_ERROR("dropout: expected p in [0, 1], got 1.500000", dropout(x, 1.5));
  EXPECT_ERROR("Dropout: expected p in [0, 1], got -0.500000", nn::Dropout(-0.5));
}

// The gradient goes through the same elements, also when the loss was read before.
TEST(Dropout, TheGradientHasTheSameMask) {
  for (bool readBefore : {false, true}) {
    manual_seed(3);
    Tensor x = ones({50}).requires_grad_();
    Tensor y = dropout(x, 0.5);
    Tensor loss = (y * 3).sum();
    if (readBefore)
      loss.item();
    loss.backward();
    Row mask = expected(3, 0, 50, 0.5), gradient = x.grad().to_vector<double>();
    for (size_t i = 0; i < mask.size(); ++i)
      EXPECT_EQ(gradient[i], 3 * mask[i]) << i;
  }
}

TEST(Dropout, JitDrawsAnewAndCompilesOnce) {
  manual_seed(5);
  auto f = jit([](Tensor x) { return std::pair(dropout(x, 0.5), dropout(x, 0.25)); }, {.fullgraph = true});
  f(ones({30}));
  manual_seed(5);
  int64_t before = dlc::testing::compile_count();
  for (uint64_t call = 0; call < 9; ++call) { // check traces at calls 2, 4 and 8 leave the generator alone
    auto [first, second] = f(ones({30}));
    EXPECT_EQ(first.to_vector<double>(), expected(5, 2 * call, 30, 0.5)) << call;
    EXPECT_EQ(second.to_vector<double>(), expected(5, 2 * call + 1, 30, 0.25)) << call;
  }
  EXPECT_EQ(dlc::testing::compile_count(), before);
  EXPECT_EQ(dropout(ones({30}), 0.5).to_vector<double>(), expected(5, 18, 30, 0.5));
}

TEST(Dropout, AStepIsTheSameInsideAndOutsideJit) {
  auto train = [](bool jitted) {
    manual_seed(11);
    Net net;
    optim::SGD optimizer(net.parameters(), {.lr = 0.1});
    auto body = [&](Tensor x) {
      optimizer.zero_grad();
      Tensor loss = nn::cross_entropy(net(x), tensor({0, 1, 2, 1, 0}, i64));
      loss.backward();
      optimizer.step();
      return loss;
    };
    auto step = jit(body, {.fullgraph = true});
    std::vector<float> losses;
    for (int i = 0; i < 5; ++i)
      losses.push_back((jitted ? step(inputs()) : body(inputs())).item<float>());
    for (float value : net.fc1.weight.to_vector<float>())
      losses.push_back(value);
    return losses;
  };
  EXPECT_EQ(train(true), train(false));
}

TEST(Dropout, EvaluationKeepsAll) {
  Net net;
  auto f = jit([&](Tensor x) { return net(x); });
  net.eval();
  Row before = f(inputs()).to_vector<double>();
  EXPECT_EQ(f(inputs()).to_vector<double>(), before);
  net.train();
  Row dropped = f(inputs()).to_vector<double>();
  EXPECT_NE(dropped, before);
  EXPECT_NE(f(inputs()).to_vector<double>(), dropped);
  net.eval();
  EXPECT_EQ(f(inputs()).to_vector<double>(), before);
}

// A body that throws has drawn nothing.
TEST(Dropout, AnExceptionPutsTheGeneratorBack) {
  manual_seed(2);
  auto f = jit([](Tensor x) {
    Tensor y = dropout(x, 0.5);
    if (x.dim() == 1)
      throw std::runtime_error("no");
    return y;
  });
  EXPECT_THROW(f(ones({9})), std::runtime_error);
  EXPECT_EQ(dropout(ones({30}), 0.5).to_vector<double>(), expected(2, 0, 30, 0.5));
}
