#include "ErrorText.h"

#include <cmath>
#include <limits>

using namespace dlc;
using Floats = std::vector<float>;

namespace {

constexpr float lowest = -std::numeric_limits<float>::infinity();

void expectNear(const Tensor &x, const Floats &expected) {
  Floats values = x.to_vector<float>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-6) << "element " << i;
}

constexpr float log3 = 1.0986123f; // weights are as exp(log 3) : exp(0) = 3 : 1

} // namespace

TEST(Attention, WeighsValuesBySoftmax) {
  Tensor q = tensor({{1}, {0}}), k = tensor({{0}, {1}}) * log3, v = tensor({{4, 8}, {0, 4}});
  expectNear(scaled_dot_product_attention(q, k, v), {1, 5, 2, 6});
  expectNear(scaled_dot_product_attention(q, k, v, {.is_causal = true}), {4, 8, 2, 6});
  expectNear(scaled_dot_product_attention(q, k, v, {.scale = -1}), {3, 7, 2, 6});
}

TEST(Attention, DefaultScaleIsOneOverRootOfWidth) {
  Tensor q = ones({1, 4}), k = tensor({{0, 0, 0, 0}, {1, 1, 0, 0}}) * log3, v = tensor({{4}, {0}});
  expectNear(scaled_dot_product_attention(q, k, v), {1});
}

TEST(Attention, MasksAreBoolOrAdded) {
  Tensor q = zeros({2, 1}), k = zeros({3, 1}), v = tensor({{1}, {2}, {6}});
  Tensor allowed = tensor({{1, 0, 1}, {0, 0, 1}}) > 0;
  expectNear(scaled_dot_product_attention(q, k, v, {.attn_mask = allowed}), {3.5, 6});
  Tensor added = tensor({0, 0, lowest}) + tensor({1, 0, 0}) * log3;
  expectNear(scaled_dot_product_attention(q, k, v, {.attn_mask = added}), {1.25, 1.25});
  expectNear(scaled_dot_product_attention(q, k, v, {.attn_mask = allowed, .is_causal = true}), {1, 0});
}

TEST(Attention, LeadingDimsBroadcast) {
  Tensor q = zeros({2, 1, 3, 4}), k = zeros({5, 6, 4}), v = ones({6, 7});
  Tensor y = scaled_dot_product_attention(q, k, v, {.attn_mask = zeros({5, 1, 6})});
  EXPECT_EQ(y.shape(), Shape({2, 5, 3, 7}));
  expectNear(y, Floats(210, 1));
}

// GRAD-23
TEST(Attention, RowWithoutKeysIsZeroAndHasNoGradient) {
  for (const Tensor &mask : {tensor({{1, 1}, {0, 0}}) > 0, tensor({{0, 0}, {lowest, lowest}})}) {
    Tensor q = zeros({2, 1}).requires_grad_(), k = zeros({2, 1}).requires_grad_();
    Tensor v = tensor({{1}, {2}}).requires_grad_();
    Tensor out = scaled_dot_product_attention(q, k, v, {.attn_mask = mask});
    out[0].sum().backward();
    expectNear(out, {1.5, 0});
    expectNear(v.grad(), {0.5, 0.5});
    expectNear(q.grad(), {0, 0});
    expectNear(k.grad(), {0, 0});
  }
}

TEST(Attention, GradientOfTheScores) {
  Tensor q = tensor({{1.0f}}).requires_grad_(), k = (tensor({{0}, {1}}) * log3).detach().requires_grad_();
  Tensor v = tensor({{4}, {0}});
  scaled_dot_product_attention(q, k, v).sum().backward();
  // y = 4 p0, p = [1/4, 3/4]; dy/ds = [4 p0 p1, -4 p0 p1] = [3/4, -3/4].
  expectNear(k.grad(), {0.75, -0.75});
  expectNear(q.grad(), {-0.75f * log3});
}

TEST(Attention, ErrorsNameShapes) {
  Tensor x = zeros({3, 4}), y = zeros({3, 5}), z = zeros({2, 4});
  EXPECT_ERROR("scaled_dot_product_attention: query has rows of 4 elements, key of 5",
               scaled_dot_product_attention(x, y, y));
  EXPECT_ERROR("scaled_dot_product_attention: key has 3 rows, value 2", scaled_dot_product_attention(x, x, z));
  EXPECT_ERROR("scaled_dot_product_attention: expected query, key and value [..., rows, width] of one float dtype, got "
               "f32 [3, 4], f64 [3, 4] and f32 [3, 4]",
               scaled_dot_product_attention(x, zeros({3, 4}, f64), x));
  EXPECT_ERROR("scaled_dot_product_attention: expected attn_mask to broadcast to [3, 3], got [2, 3, 3]",
               scaled_dot_product_attention(x, x, x, {.attn_mask = zeros({2, 3, 3})}));
  EXPECT_ERROR("scaled_dot_product_attention: expected attn_mask of bool or float, got i64 [3, 3]",
               scaled_dot_product_attention(x, x, x, {.attn_mask = zeros({3, 3}, i64)}));
}
