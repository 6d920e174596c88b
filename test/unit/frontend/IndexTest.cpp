#include "ErrorText.h"

#include <cmath>

using namespace dlc;
using Floats = std::vector<float>;
using Indices = std::vector<int64_t>;

namespace {
Tensor indices(const Indices &values, Shape shape) { return tensor(values, std::move(shape)); }
/// 1, 2, 3, … in the shape.
Tensor counted(Shape shape) { return (arange(shape.numel(), f32) + 1).reshape(shape); }
} // namespace

TEST(Index, IndexSelect) {
  Tensor x = counted({3, 2}).clone().requires_grad_();
  Tensor rows = index_select(x, 0, indices({2, 0, 2}, {3}));
  EXPECT_EQ(rows.to_vector<float>(), (Floats{5, 6, 1, 2, 5, 6}));
  EXPECT_EQ(x.index_select(-1, indices({1}, {1})).to_vector<float>(), (Floats{2, 4, 6}));
  EXPECT_EQ(x.index_select(0, indices({1}, {})).shape(), Shape({1, 2}));
  (rows * tensor({{1, 2}, {3, 4}, {5, 6}})).sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{3, 4, 0, 0, 6, 8}));
}

TEST(Index, GatherAlongEitherDim) {
  Tensor x = counted({2, 3}).clone().requires_grad_();
  EXPECT_EQ(gather(x, 1, indices({2, 0, 0, 1, 1, 1, 2, 0}, {2, 4})).to_vector<float>(),
            (Floats{3, 1, 1, 2, 5, 5, 6, 4}));
  Tensor y = x.gather(0, indices({1, 0, 1, 0, 0, 1}, {2, 3}));
  EXPECT_EQ(y.to_vector<float>(), (Floats{4, 2, 6, 1, 2, 6}));
  (y * counted({2, 3})).sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{4, 7, 0, 1, 0, 9}));
}

// As in PyTorch, index may be smaller than x in the other dims.
TEST(Index, SmallerIndices) {
  Tensor x = counted({2, 3}).clone().requires_grad_(), source = (counted({2, 3}) * 10).clone().requires_grad_();
  EXPECT_EQ(gather(x, 1, indices({2, 2}, {1, 2})).to_vector<float>(), (Floats{3, 3}));
  Tensor added = scatter_add(x, 1, indices({2, 2}, {1, 2}), source);
  EXPECT_EQ(added.to_vector<float>(), (Floats{1, 2, 33, 4, 5, 6}));
  EXPECT_EQ(scatter(x, 0, indices({1}, {1, 1}), source).to_vector<float>(), (Floats{1, 2, 3, 10, 5, 6}));
  (added * counted({2, 3})).sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(source.grad().to_vector<float>(), (Floats{3, 3, 0, 0, 0, 0}));
}

TEST(Index, ScatterAddAndNumbers) {
  Tensor i = indices({0, 1, 1, 0}, {4});
  EXPECT_EQ(zeros({3}).scatter_add(0, i, tensor({1, 2, 3, 4})).to_vector<float>(), (Floats{5, 5, 0}));
  EXPECT_EQ(scatter(ones({3}), 0, i, 7).to_vector<float>(), (Floats{7, 7, 1}));
  EXPECT_EQ(scatter_add(zeros({3}, i64), 0, i, 1).to_vector<int64_t>(), (Indices{2, 2, 0}));
  EXPECT_EQ(scatter_add(zeros({3}), 0, i.to(i32), tensor({1, 2, 3, 4})).to_vector<float>(), (Floats{5, 5, 0}));
}

TEST(Index, GRAD_13_OnlyTheLastWriteOfAPlaceCounts) {
  Tensor base = tensor({1, 2, 3}).requires_grad_(), updates = tensor({5, 7}).requires_grad_();
  Tensor y = scatter(base, 0, indices({1, 1}, {2}), updates);
  EXPECT_EQ(y.to_vector<float>(), (Floats{1, 7, 3}));
  y.sum().backward();
  EXPECT_EQ(updates.grad().to_vector<float>(), (Floats{0, 1}));
  EXPECT_EQ(base.grad().to_vector<float>(), (Floats{1, 0, 1}));
}

TEST(Index, IndexAdd) {
  Tensor x = ones({2, 2}).clone().requires_grad_(), source = counted({3, 2}).clone().requires_grad_();
  Tensor y = x.index_add(0, indices({1, 0, 1}, {3}), source);
  EXPECT_EQ(y.to_vector<float>(), (Floats{4, 5, 7, 9}));
  (y * counted({2, 2})).sum().backward();
  EXPECT_EQ(source.grad().to_vector<float>(), (Floats{3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{1, 2, 3, 4}));
}

TEST(Index, EmbeddingWithPadding) {
  Tensor weight = counted({3, 2}).clone().requires_grad_();
  Tensor tokens = indices({2, 1, 1, 0}, {2, 2});
  Tensor y = embedding(tokens, weight, -2);
  EXPECT_EQ(y.shape(), Shape({2, 2, 2}));
  EXPECT_EQ(y.to_vector<float>(), (Floats{5, 6, 3, 4, 3, 4, 1, 2}));
  y.sum().backward();
  EXPECT_EQ(weight.grad().to_vector<float>(), (Floats{1, 1, 0, 0, 1, 1}));
}

TEST(Index, EmbeddingModule) {
  nn::Embedding layer(1000, 8), padded(3, 2, {.padding_idx = 1});
  Floats start = layer.weight.to_vector<float>();
  double sum = 0, squares = 0;
  for (float value : start)
    sum += value, squares += double(value) * value;
  // Five standard errors of 8000 samples of N(0, 1).
  EXPECT_NEAR(sum / 8000, 0, 5 / std::sqrt(8000.0));
  EXPECT_NEAR(squares / 8000, 1, 5 * std::sqrt(2.0 / 8000));
  Floats rows = padded.weight.to_vector<float>();
  EXPECT_EQ(rows[2], 0);
  EXPECT_EQ(rows[3], 0);
  EXPECT_NE(rows[0], 0);
  padded(indices({1, 2, 1}, {3})).sum().backward();
  EXPECT_EQ(padded.weight.grad().to_vector<float>(), (Floats{0, 0, 0, 0, 1, 1}));
  EXPECT_ERROR("Embedding: padding_idx 3 is outside [-3, 3)", nn::Embedding(3, 2, {.padding_idx = 3}));
}

TEST(Index, AJittedStepTrainsOnlyTheRowsItReads) {
  nn::Embedding layer(4, 2, {.padding_idx = 0});
  optim::SGD optimizer(layer.parameters(), {.lr = 1});
  Floats before = layer.weight.to_vector<float>();
  auto step = jit([&](Tensor tokens) {
    Tensor loss = layer(tokens).sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss;
  });
  for (int i = 0; i < 3; ++i)
    step(indices({0, 2, 2}, {3}));
  Floats after = layer.weight.to_vector<float>();
  for (size_t i = 0; i < 8; ++i)
    EXPECT_FLOAT_EQ(after[i], i / 2 == 2 ? before[i] - 6 : before[i]);
}

// Inside a compiled step the values are not known: nothing outside is read or written.
TEST(Index, OutsideOfACompiledStep) {
  auto select = jit([](Tensor x, Tensor i) { return index_select(x, 0, i); });
  auto add = jit([](Tensor x, Tensor i) { return scatter_add(x, 0, i, x); });
  Floats y = select(tensor({1, 2}), indices({1, 2}, {2})).to_vector<float>();
  EXPECT_EQ(y[0], 2);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(add(tensor({1, 2}), indices({-1, 0}, {2})).to_vector<float>(), (Floats{3, 2}));
}

TEST(Index, OneHot) {
  EXPECT_EQ(one_hot(indices({1, 0}, {2}), 3).to_vector<int64_t>(), (Indices{0, 1, 0, 1, 0, 0}));
  EXPECT_ERROR("one_hot: index 3 (element 1) is outside [0, 3)", one_hot(indices({0, 3}, {2}), 3));
}

TEST(Index, Errors) {
  Tensor x = zeros({2, 3}), i = indices({0}, {1});
  EXPECT_ERROR("index_select: index 2 (element 1) is outside [0, 2)", index_select(x, 0, indices({0, 2}, {2})));
  EXPECT_ERROR("index_select: index -1 (element 0) is outside [0, 3)", index_select(x, 1, indices({-1}, {1})));
  EXPECT_ERROR("index_select: expected indices of i64 or i32, got f32 [1]", index_select(x, 0, zeros({1})));
  EXPECT_ERROR("index_select: expected indices of one dim, got i64 [1, 1]", index_select(x, 0, indices({0}, {1, 1})));
  EXPECT_ERROR("index_select: expected a tensor with dims, got f32 []", index_select(tensor(1.0), 0, i));
  EXPECT_ERROR("gather: index and x are [1] and [2, 3]; expected as many dims, none of index larger except dim 1",
               gather(x, 1, i));
  EXPECT_ERROR("gather: index and x are [3, 1] and [2, 3]; expected as many dims, none of index larger except dim 1",
               gather(x, 1, indices({0, 0, 0}, {3, 1})));
  EXPECT_ERROR("scatter_add: index and source are [1, 2] and [1, 1]; expected as many dims, none of index larger",
               scatter_add(x, 1, indices({0, 0}, {1, 2}), zeros({1, 1})));
  EXPECT_ERROR("scatter: source is f64 [1, 1], x is f32 [2, 3]; expected one dtype",
               scatter(x, 1, indices({0}, {1, 1}), zeros({1, 1}, f64)));
  EXPECT_ERROR("scatter_add: not defined on i1; cast first",
               scatter_add(zeros({1}, boolean), 0, i, zeros({1}, boolean)));
  EXPECT_ERROR("index_add: index is [1], source [2, 3]; expected indices of one dim and a source of [1, 3]",
               index_add(x, 0, i, x));
  EXPECT_ERROR("embedding: expected a weight of two dims, got f32 [2]", embedding(i, zeros({2})));
  EXPECT_ERROR("embedding: index 7 (element 0) is outside [0, 2)", embedding(indices({7}, {1}), x));
  EXPECT_ERROR("embedding: padding_idx 2 is outside [-2, 2)", embedding(i, x, 2));
}
