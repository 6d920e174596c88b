#include "Ranks.h"

using namespace dlc;
using namespace dlc::test;
using distributed::ReduceOp;

using Row = std::vector<double>;

TEST(Collectives, ReduceInPlace) {
  asRanks(3, [] {
    auto rank = double(distributed::rank());
    auto reduced = [&](ReduceOp op, DType dtype) {
      Tensor x = tensor({rank, -rank, 10 * rank}, dtype);
      distributed::all_reduce(x, op);
      return x.to_vector<double>();
    };
    for (DType dtype : {f32, f64, i64, i32}) {
      EXPECT_EQ(reduced(ReduceOp::Sum, dtype), (Row{3, -3, 30}));
      EXPECT_EQ(reduced(ReduceOp::Max, dtype), (Row{2, 0, 20}));
      EXPECT_EQ(reduced(ReduceOp::Min, dtype), (Row{0, -2, 0}));
    }
    EXPECT_EQ(reduced(ReduceOp::Avg, f32), (Row{1, -1, 10}));
    EXPECT_EQ(errorOf([&] { reduced(ReduceOp::Avg, i64); }),
              "all_reduce: no average of i64 tensors; convert them first");
  });
}

TEST(Collectives, GoThroughViewsAndState) {
  asRanks(2, [] {
    auto rank = double(distributed::rank());
    Tensor x = tensor({{rank, 1}, {2, rank + 5}});
    distributed::all_reduce(x[1]);
    EXPECT_EQ(x.to_vector<double>(), (Row{rank, 1, 4, 11}));
    nn::Linear layer(2, 1, {.bias = false});
    {
      NoGrad off;
      layer.weight = tensor({{rank + 1, rank + 2}});
    }
    distributed::broadcast(layer.weight, 1);
    EXPECT_EQ(layer.weight.to_vector<double>(), (Row{2, 3}));
    EXPECT_EQ(layer(tensor({{1, 1}})).item(), 5);
    EXPECT_EQ(errorOf([&] { distributed::broadcast(x, 2); }), "broadcast: there is no rank 2 of 2");
  });
}

TEST(Collectives, GatherAndScatter) {
  asRanks(3, [] {
    auto rank = double(distributed::rank());
    std::vector<Tensor> all = distributed::all_gather(tensor({rank, rank * rank}));
    ASSERT_EQ(all.size(), 3u);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(all[size_t(i)].to_vector<double>(), (Row{double(i), double(i * i)}));
    Tensor mine = distributed::reduce_scatter({tensor({rank}), tensor({rank + 1}), tensor({rank + 2})});
    EXPECT_EQ(mine.to_vector<double>(), (Row{3 + 3 * rank}));
    EXPECT_EQ(errorOf([&] { distributed::reduce_scatter({tensor({rank})}); }),
              "reduce_scatter: expected one tensor for each of 3 ranks, got 1");
  });
}

// A rank's part of an odd number of elements is shared out among its two members, who together count once.
TEST(Collectives, ScatterAmongSeveralMembers) {
  asRanks(
      2,
      [] {
        auto rank = double(distributed::rank());
        auto scattered = [&](ReduceOp op, DType dtype) {
          return distributed::reduce_scatter(
                     {tensor({rank, 10.0, -2.0}, dtype), tensor({4.0, 5 * rank, 6 - 2 * rank}, dtype)}, op)
              .to_vector<double>();
        };
        for (DType dtype : {f32, f64, i64}) {
          EXPECT_EQ(scattered(ReduceOp::Sum, dtype), rank == 0 ? (Row{1, 20, -4}) : (Row{8, 5, 10}));
          EXPECT_EQ(scattered(ReduceOp::Max, dtype), rank == 0 ? (Row{1, 10, -2}) : (Row{4, 5, 6}));
          EXPECT_EQ(scattered(ReduceOp::Min, dtype), rank == 0 ? (Row{0, 10, -2}) : (Row{4, 0, 4}));
        }
        EXPECT_EQ(scattered(ReduceOp::Avg, f32), rank == 0 ? (Row{0.5, 10, -2}) : (Row{4, 2.5, 5}));
        EXPECT_EQ(errorOf([&] { scattered(ReduceOp::Avg, i32); }),
                  "reduce_scatter: no average of i32 tensors; convert them first");
        EXPECT_EQ(errorOf([&] { distributed::reduce_scatter({tensor({1, 2}), tensor({1})}); }),
                  "reduce_scatter: part 1 is f32 [1], part 0 f32 [2]");
      },
      "cpu:2");
}

// Gradients averaged by hand, as scripts do that use no DataParallel.
TEST(Collectives, AverageGradientsByHand) {
  asRanks(2, [] {
    auto rank = double(distributed::rank());
    Tensor w = tensor({1, 2}).requires_grad_();
    (w * tensor({rank, rank + 1})).sum().backward();
    distributed::all_reduce(w.grad(), ReduceOp::Avg);
    EXPECT_EQ(w.grad().to_vector<double>(), (Row{0.5, 1.5}));
  });
}

TEST(Collectives, InAJittedFunctionRunAtEveryCall) {
  asRanks(2, [] {
    set_remark_handler(nullptr);
    auto f = jit([](Tensor x) {
      Tensor y = x * 2;
      distributed::all_reduce(y);
      return y + 1;
    });
    auto rank = double(distributed::rank());
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(f(tensor({rank + i})).item(), 2 + 4 * i + 1);
  });
}
