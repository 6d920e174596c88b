#include "ErrorText.h"

using namespace dlc;
using Floats = std::vector<float>;

namespace {
void expectNear(const Tensor &got, const Floats &expected, double tolerance = 1e-5) {
  Floats values = got.to_vector<float>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance) << "element " << i;
}
Tensor input() { return tensor({{1, 2, 4, -3}, {0.5, 0.25, -0.125, 8}}); }
} // namespace

// Values by PyTorch's LayerNorm.
TEST(LayerNorm, StartsAsPlainNormalization) {
  Floats expected{0, 0.39223197f, 1.17669594f, -1.56892788f, -0.4898385f, -0.56377631f, -0.67468315f, 1.72829795f};
  expectNear(nn::LayerNorm(4)(input()), expected);
  expectNear(nn::LayerNorm(4, {.elementwise_affine = false})(input()), expected);
  expectNear(layer_norm(input(), {4}), expected);
}

TEST(LayerNorm, ValueAndGradients) {
  nn::LayerNorm norm(4);
  StateDict state;
  state.add("weight", tensor({1, -2, 0.5, 3}));
  state.add("bias", tensor({0, 1, -1, 0.25}));
  norm.load_state_dict(state);
  Tensor x = input().requires_grad_();
  Tensor y = norm(x);
  expectNear(y, {0, 0.21553606f, -0.41165203f, -4.45678377f, -0.48983845f, 2.12755251f, -1.33734155f, 5.43489361f});
  (y * y).sum().backward();
  expectNear(x.grad(), {2.74704552f, 0.82689953f, -2.16037416f, -1.41357136f, //
                        0.36473733f, -1.52054203f, 1.11367548f, 0.04213011f});
  expectNear(norm.weight.grad(), {0.4798834f, -2.22984719f, 0.83578509f, 32.77097321f}, 1e-4);
  expectNear(norm.bias.grad(), {-0.9796769f, 4.68617725f, -3.49798727f, 1.95621967f});
}

TEST(LayerNorm, SeveralDims) {
  Tensor x = arange(24).to(f32).view({2, 3, 4});
  Tensor rows = layer_norm(x.view({2, 12}), {12}), blocks = nn::LayerNorm({3, 4}, {.bias = false})(x);
  EXPECT_EQ(blocks.shape(), x.shape());
  EXPECT_EQ(blocks.to_vector<float>(), rows.to_vector<float>());
}

TEST(LayerNorm, NamesAreThoseOfPyTorch) {
  auto names = [](const nn::Module &module) {
    std::string list;
    for (const auto &[name, tensor] : module.state_dict())
      list += name + tensor.shape().str();
    return list;
  };
  EXPECT_EQ(names(nn::LayerNorm({2, 3})), "weight[2, 3]bias[2, 3]");
  EXPECT_EQ(names(nn::LayerNorm(3, {.bias = false})), "weight[3]");
  EXPECT_EQ(names(nn::LayerNorm(3, {.elementwise_affine = false})), "");
}

TEST(LayerNorm, Messages) {
  Tensor x = zeros({2, 3});
  EXPECT_ERROR("layer_norm: expected input [..., 4], got [2, 3]", layer_norm(x, {4}));
  EXPECT_ERROR("layer_norm: expected input [..., 1, 2, 3], got [2, 3]", layer_norm(x, {1, 2, 3}));
  EXPECT_ERROR("layer_norm: expected a normalized shape of at least one dim", layer_norm(x, Shape()));
  EXPECT_ERROR("layer_norm: expected weight f32 [3], got f32 [2]", layer_norm(x, {3}, zeros({2})));
  EXPECT_ERROR("layer_norm: expected bias f32 [3], got f64 [3]", layer_norm(x, {3}, {}, zeros({3}, f64)));
  EXPECT_ERROR("layer_norm: eps must not be negative", layer_norm(x, {3}, {}, {}, -1));
}
