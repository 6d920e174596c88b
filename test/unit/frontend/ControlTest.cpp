#include "ErrorText.h"

#include <cmath>

using namespace dlc;
using Floats = std::vector<float>;
using Step = std::pair<Tensor, Tensor>;

namespace {

/// f32 of the shape, element i being value(i).
template <typename F>
Tensor filled(Shape shape, F value) {
  int64_t count = 1;
  for (int64_t extent : shape.vec())
    count *= extent;
  std::vector<float> data;
  data.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    data.push_back(static_cast<float>(value(i)));
  return tensor(data, shape);
}

void expectNear(const Tensor &got, const std::vector<double> &expected, double tolerance) {
  std::vector<double> values = got.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance) << "element " << i;
}

/// An RNN of 20 steps, 2 inputs, 3 units.
struct Rnn {
  Tensor xs = filled({20, 1, 2}, [](int64_t i) {
    int64_t step = i / 2, place = i % 2;
    return 0.5 * std::sin(double(3 * step + place));
  });
  Tensor w = filled({2, 3}, [](int64_t i) {
               int64_t row = i / 3, column = i % 3;
               return 0.1 * double(row + 1) - 0.05 * double(column);
             }).requires_grad_();
  Tensor u = filled({3, 3}, [](int64_t i) {
               int64_t row = i / 3, column = i % 3;
               return 0.3 * std::cos(double(row + 2 * column));
             }).requires_grad_();
  Tensor h = tensor({0.1, 0.2, 0.3}).reshape({1, 3}).requires_grad_();

  Tensor next(const Tensor &before, const Tensor &x) const { return tanh(matmul(x, w) + matmul(before, u)); }
  std::pair<Tensor, Tensor> scanned() const {
    return scan(
        [this](Tensor before, Tensor x) {
          Tensor now = next(before, x);
          return Step{now, now};
        },
        h, xs);
  }
  static Tensor loss(const Tensor &last, const Tensor &all) { return all.sum() + (last * last).sum(); }
};

} // namespace

// Values by Python in double, derivatives by complex steps, which are exact to rounding.
TEST(Control, RnnOf20StepsHasTheRightValuesAndGradients) {
  Rnn net;
  auto [last, all] = net.scanned();
  EXPECT_EQ(all.shape(), (Shape{20, 1, 3}));
  Tensor loss = Rnn::loss(last, all);
  loss.backward();
  EXPECT_NEAR(loss.item(), 0.2374302016621892, 1e-5);
  expectNear(last, {0.07678810068406121, 0.14796731900716345, 0.04076648147181174}, 1e-6);
  expectNear(net.w.grad(), {0.152328, 0.196774, 0.146859, 0.549177, 0.639186, 0.527092}, 1e-5);
  expectNear(net.u.grad(), {0.097671, 0.078502, 0.097442, -0.004848, -0.034691, -0.002507, 0.382487, 0.36505, 0.375768},
             1e-5);
  expectNear(net.h.grad(), {-0.013784, -0.044222, -0.034002}, 1e-5);
}

TEST(Control, ScanInsideJitTrains) {
  Rnn net;
  auto step = jit([&] {
    auto [last, all] = net.scanned();
    Tensor loss = Rnn::loss(last, all);
    loss.backward();
    Tensor gradient = net.w.grad();
    net.w.zero_grad();
    net.u.zero_grad();
    net.h.zero_grad();
    return std::tuple<Tensor, Tensor>{loss, gradient};
  });
  for (int call = 0; call < 3; ++call) {
    auto [loss, gradient] = step();
    EXPECT_NEAR(loss.item(), 0.2374302016621892, 1e-5);
    expectNear(gradient, {0.152328, 0.196774, 0.146859, 0.549177, 0.639186, 0.527092}, 1e-5);
  }
}

TEST(Control, ScanBackwardsOverSeveralTensors) {
  Tensor a = tensor({1, 2, 3}), b = tensor({10, 20, 30});
  using Pair = std::tuple<Tensor, Tensor>;
  auto [sums, differences] = scan(
      [](const Pair &sums, const Pair &xs) {
        const auto &[x, y] = xs;
        Pair next{std::get<0>(sums) * 2 + x, std::get<1>(sums) + y};
        return std::pair<Pair, Tensor>{next, y - x};
      },
      Pair{tensor(0.0f), tensor(0.0f)}, Pair{a, b}, {.reverse = true});
  EXPECT_EQ(std::get<0>(sums).item<float>(), 17); // ((3 * 2) + 2) * 2 + 1
  EXPECT_EQ(std::get<1>(sums).item<float>(), 60);
  EXPECT_EQ(differences.to_vector<float>(), (Floats{9, 18, 27}));
}

TEST(Control, WhatAStepChangesGoesOnToTheNext) {
  Tensor count = tensor({0, 0});
  Tensor total = scan(
                     [&](Tensor sum, Tensor x) {
                       count += x;
                       return Step{sum + count, x};
                     },
                     tensor({0, 0}), tensor({1, 2, 3, 4, 5, 6}).reshape({3, 2}))
                     .first;
  EXPECT_EQ(count.to_vector<float>(), (Floats{9, 12}));
  EXPECT_EQ(total.to_vector<float>(), (Floats{14, 20})); // 1 + 4 + 9, 2 + 6 + 12
}

TEST(Control, CondRunsOneSideAndGivesZerosForTheOther) {
  for (float value : {2.0f, -2.0f}) {
    Tensor x = tensor({value}).requires_grad_(), a = tensor({3}).requires_grad_(), b = tensor({5}).requires_grad_();
    Tensor y = cond(x.sum() > 0, [&] { return x * a; }, [&] { return x / b * 0 + x * b; });
    y.sum().backward();
    bool taken = value > 0;
    EXPECT_EQ(y.item<float>(), taken ? 6 : -10);
    EXPECT_EQ(x.grad().item<float>(), taken ? 3 : 5);
    EXPECT_EQ(a.grad().item<float>(), taken ? 2 : 0);
    EXPECT_EQ(b.grad().item<float>(), taken ? 0 : -2);
  }
}

// The side that is not taken would give NaN: 0 / 0.
TEST(Control, SideNotTakenPoisonsNothing) {
  Tensor x = tensor({0.0f, 1.0f}).requires_grad_(), w = tensor({5.0f, 7.0f}).requires_grad_();
  Tensor y = cond(x.prod() > 0, [&] { return w / x; }, [&] { return x * 1; });
  y.sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{1, 1}));
  EXPECT_EQ(w.grad().to_vector<float>(), (Floats{0, 0}));
}

TEST(Control, CondChangesOnlyWhatItsSideChanges) {
  Tensor taken = tensor({0}), other = tensor({0});
  for (float value : {1.0f, 1.0f, -1.0f})
    cond(
        tensor({value}) > 0,
        [&] {
          taken += 1;
          return tensor({0});
        },
        [&] {
          other += 10;
          return tensor({0});
        });
  EXPECT_EQ(taken.item<float>(), 2);
  EXPECT_EQ(other.item<float>(), 10);
}

// DIST-15: means of unequal micro-batches are weighted by their rows.
TEST(Control, AccumulateGivesTheMeanOfTheBatch) {
  Tensor w = tensor({1.0f}).requires_grad_();
  auto loss = [&](const Tensor &x, const Tensor &) { return (x * w).mean(); };
  auto run = [&](int64_t n, const Tensor &x) {
    w.zero_grad();
    double mean = accumulate(n, loss, x, x).item();
    EXPECT_FLOAT_EQ(w.grad().item<float>(), static_cast<float>(mean)); // w is 1
    return mean;
  };
  EXPECT_FLOAT_EQ(run(2, tensor({1, 1, 1, 5})), 2.0);
  EXPECT_FLOAT_EQ(run(4, tensor({1, 3, 2, 6})), 3.0);    // DIST-03 on one member
  EXPECT_FLOAT_EQ(run(2, tensor({1, 1, 1, 5, 5})), 2.6); // 3 and 2 rows; the mean of means is 3
  EXPECT_FLOAT_EQ(run(4, tensor({1, 1, 1, 1, 1, 9})), 14.0 / 6);
  EXPECT_FLOAT_EQ(run(4, tensor({8})), 8.0); // a window that is not full
  EXPECT_FLOAT_EQ(run(1, tensor({1, 1, 1, 5})), 2.0);
}

TEST(Control, AccumulateEqualsTheLargeBatchInJitToo) {
  auto x = filled({12, 4}, [](int64_t i) { return std::sin(double(i)); });
  auto y = filled({12, 2}, [](int64_t i) { return std::cos(double(i)); });
  auto w = [] { return filled({4, 2}, [](int64_t i) { return 0.1 * double(i) - 0.3; }).requires_grad_(); };
  Tensor whole = w(), parts = w(), recorded = w();
  auto lossOf = [](Tensor &weight) {
    return [&weight](const Tensor &a, const Tensor &b) {
      Tensor error = tanh(matmul(a, weight)) - b;
      return (error * error).mean();
    };
  };
  Tensor expected = lossOf(whole)(x, y);
  expected.backward();
  Tensor mean = accumulate(4, lossOf(parts), x, y);
  auto step = jit([&](Tensor a, Tensor b) {
    Tensor value = accumulate(5, lossOf(recorded), a, b); // 3 rows four times
    Tensor gradient = recorded.grad();
    recorded.zero_grad();
    return std::tuple<Tensor, Tensor>{value, gradient};
  });
  auto [value, gradient] = step(x, y);
  EXPECT_NEAR(mean.item(), expected.item(), 1e-6);
  EXPECT_NEAR(value.item(), expected.item(), 1e-6);
  std::vector<double> right = whole.grad().to_vector<double>();
  expectNear(parts.grad(), right, 1e-6);
  expectNear(gradient, right, 1e-6);
}

TEST(Control, AccumulateAddsToWhatIsThere) {
  Tensor w = tensor({1.0f}).requires_grad_();
  (w * 10).sum().backward();
  accumulate(2, [&](const Tensor &x, const Tensor &) { return (x * w).mean(); }, tensor({1, 3}), tensor({0, 0}));
  EXPECT_FLOAT_EQ(w.grad().item<float>(), 12);
}

TEST(Control, ErrorsNameTheLine) {
  Tensor xs = tensor({1, 2, 3});
  EXPECT_ERROR("scan: expected carried value 0 to be f32 [], got f32 [1]",
               scan([](Tensor h, Tensor x) { return Step{(h + x).reshape({1}), x}; }, tensor(0.0f), xs));
  EXPECT_ERROR("cond: expected a predicate of one element, got i1 [3]; where chooses element by element",
               cond(xs > 1, [&] { return xs; }, [&] { return xs; }));
  EXPECT_ERROR("cond: expected result 0 to be f32 [3], got f32 []",
               cond(xs.sum() > 1, [&] { return xs; }, [&] { return xs.sum(); }));
  EXPECT_ERROR("accumulate: expected one micro-batch or more of x and y with as many rows, got 2 of [3] and [1]",
               accumulate(2, [](const Tensor &x, const Tensor &) { return x.sum(); }, xs, tensor({1})));
}

TEST(Control, ValuesOfTheBodyHaveNoMeaningOutside) {
  Tensor xs = tensor({1, 2, 3}), leaked;
  scan(
      [&](Tensor h, Tensor x) {
        leaked = h + x;
        return Step{leaked, x};
      },
      tensor(0.0f), xs);
  EXPECT_THROW(leaked.item(), Error);
  EXPECT_THROW(scan([](Tensor h, Tensor x) { return Step{h * x.item(), x}; }, tensor(0.0f), xs), Error);
  Tensor w = tensor({2.0f}).requires_grad_(), early = w * 2;
  EXPECT_THROW(accumulate(1, [&](const Tensor &x, const Tensor &) { return (x * early).sum(); }, xs, xs), Error);
  EXPECT_EQ(scan([](Tensor h, Tensor x) { return Step{h + x, x}; }, tensor(0.0f), xs).first.item<float>(), 6);
}
