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
    std::vector<float> losses(5);
    for (float &loss : losses)
      loss = (jitted ? step(inputs()) : body(inputs())).item<float>();
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

namespace {

using Step = std::pair<Tensor, Tensor>;

/// Losses, gradient and what is drawn next, of two dropouts in each of three steps.
Row steps(bool scanned) {
  manual_seed(4);
  Tensor xs = sin(arange(36.0).to(f32)).reshape({3, 12}), h = ones({12}).requires_grad_();
  auto step = [](const Tensor &before, const Tensor &x) { return dropout(before, 0.25) + dropout(before * x, 0.5); };
  Tensor last = h;
  if (scanned)
    last = scan(
               [&](Tensor before, Tensor x) {
                 Tensor now = step(before, x);
                 return Step{now, now};
               },
               h, xs)
               .first;
  else
    for (int i = 0; i < 3; ++i)
      last = step(last, xs[i]);
  (last * last).sum().backward();
  Row row = last.to_vector<double>();
  for (const Tensor &tensor : {h.grad(), dropout(ones({12}), 0.5)})
    for (double value : tensor.to_vector<double>())
      row.push_back(value);
  return row;
}

} // namespace

TEST(Dropout, StepsOfALoopDrawAsIfWrittenOut) {
  Row found = steps(true), expected = steps(false);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-6 * std::max(1.0, std::abs(expected[i]))) << i;
}

TEST(Dropout, LoopsNestAndDrawAnewInEachCall) {
  auto f = jit(
      [](Tensor xs) {
        Tensor first = dropout(ones({30}), 0.5);
        Tensor inner = scan(
                           [](Tensor carry, Tensor slices) {
                             Tensor own = dropout(ones({30}), 0.5);
                             auto [same, ys] =
                                 scan([](Tensor c, Tensor x) { return Step{c, dropout(x, 0.25)}; }, carry, slices);
                             return Step{same, cat({own.reshape({1, 30}), ys})};
                           },
                           zeros({}), xs)
                           .second;
        return std::tuple(first, inner, dropout(ones({30}), 0.5));
      },
      {.fullgraph = true});
  f(ones({2, 3, 30}));
  int64_t compiled = dlc::testing::compile_count();
  manual_seed(6);
  for (uint64_t call = 0; call < 3; ++call) { // 1 + 2 * (1 + 3) + 1 draws
    auto [first, inner, last] = f(ones({2, 3, 30}));
    EXPECT_EQ(first.to_vector<double>(), expected(6, 10 * call, 30, 0.5));
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 4; ++j)
        EXPECT_EQ(inner[i][j].to_vector<double>(), expected(6, 10 * call + 1 + uint64_t(4 * i + j), 30, j ? 0.25 : 0.5))
            << call << i << j;
    EXPECT_EQ(last.to_vector<double>(), expected(6, 10 * call + 9, 30, 0.5));
  }
  EXPECT_EQ(dlc::testing::compile_count(), compiled);
}

// Which branch runs is not known before: the longer one counts.
TEST(Dropout, BranchesDraw) {
  auto f = jit(
      [](Tensor which) {
        Tensor drawn = cond(
            which, [] { return dropout(dropout(ones({30}), 0.5), 0.5); }, [] { return dropout(ones({30}), 0.25); });
        return std::pair(drawn, dropout(ones({30}), 0.5));
      },
      {.fullgraph = true});
  f(tensor({true}));
  manual_seed(8);
  Row a = expected(8, 0, 30, 0.5), b = expected(8, 1, 30, 0.5);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] *= b[i];
  auto [taken, behind] = f(tensor({true}));
  EXPECT_EQ(taken.to_vector<double>(), a);
  EXPECT_EQ(behind.to_vector<double>(), expected(8, 2, 30, 0.5));
  EXPECT_EQ(f(tensor({false})).first.to_vector<double>(), expected(8, 3, 30, 0.25));
}

// Each micro-batch has a mask of its own, the short last one too.
TEST(Dropout, MicroBatchesDraw) {
  auto train = [](bool accumulated) {
    manual_seed(11);
    Net net;
    Tensor x = inputs(), y = tensor({0, 1, 2, 1, 0}, i64);
    auto loss = [&](const Tensor &part, const Tensor &target) { return nn::cross_entropy(net(part), target); };
    if (accumulated)
      accumulate(3, loss, x, y);
    else
      for (auto [begin, end] : {std::pair<int64_t, int64_t>(0, 2), {2, 4}, {4, 5}})
        (loss(x.slice(0, begin, end), y.slice(0, begin, end)) * (double(end - begin) / 5)).backward();
    return net.fc1.weight.grad().to_vector<double>();
  };
  Row found = train(true), expected = train(false);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

TEST(Dropout, OtherRandomNumbersInALoopAreAnError) {
  auto draw = [](Tensor carry, Tensor x) { return Step{carry, x + rand({3})}; };
  EXPECT_THROW(scan(draw, zeros({}), ones({2, 3})), Error);
}
