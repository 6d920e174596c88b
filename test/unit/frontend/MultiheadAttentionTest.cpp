#include "ErrorText.h"

#include <cmath>
#include <limits>

using namespace dlc;
using Numbers = std::vector<double>;

// Expected values by PyTorch's MultiheadAttention in f64, 4 features, 2 heads.
namespace {

Tensor sines(Shape shape, double step) { return sin(arange(shape.numel()).to(f64) * step).view(shape); }
Tensor cosines(Shape shape, double step, double first = 0) {
  return cos(arange(shape.numel()).to(f64) * step + first).view(shape);
}

nn::MultiheadAttention makeAttention(nn::MultiheadAttention::Options options = {.batch_first = true}) {
  options.dtype = f64;
  nn::MultiheadAttention attention(4, 2, options);
  StateDict state;
  state.add("in_proj_weight", sines({12, 4}, 1) * 0.5);
  if (options.bias)
    state.add("in_proj_bias", cosines({12}, 1) * 0.25);
  state.add("out_proj.weight", cosines({4, 4}, 1, 1) * 0.5);
  if (options.bias)
    state.add("out_proj.bias", tensor({0.1, -0.2, 0.3, -0.4}, f64));
  attention.load_state_dict(state);
  return attention;
}

Tensor queries() { return sines({2, 3, 4}, 0.7); }
Tensor keys() { return cosines({2, 5, 4}, 0.3); }
Tensor padding() { return tensor({{0, 0, 0, 1, 1}, {0, 1, 0, 0, 0}}, boolean); }

void expectNear(const Tensor &got, const Numbers &expected) {
  Numbers values = got.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 2e-8) << "element " << i; // the expected ones have 8 decimals
}

} // namespace

TEST(MultiheadAttention, SelfAttention) {
  nn::MultiheadAttention attention = makeAttention();
  Tensor x = queries();
  Numbers expected{0.09905605, -0.18808812, 0.2853717,  -0.39278849, 0.43673622, -0.61252481, 0.50255221, -0.2522691,
                   0.07838567, -0.16125972, 0.27096966, -0.40078929, 0.27550147, -0.40781375, 0.39617079, -0.3179091,
                   0.26905767, -0.50406565, 0.52844348, -0.39457559, 0.09499978, -0.25490904, 0.37678211, -0.44546723};
  expectNear(attention(x, x, x), expected);
  expectNear(attention(x), expected);
  expectNear(attention(x, x + 0, x), expected);
}

TEST(MultiheadAttention, Causal) {
  nn::MultiheadAttention attention = makeAttention();
  Tensor x = queries();
  Numbers expected{0.44905074, -0.54788613, 0.40573636, -0.19034166, 0.43712571, -0.71253908, 0.6329101,  -0.32267004,
                   0.07838567, -0.16125972, 0.27096966, -0.40078929, 0.19715902, -0.48975692, 0.5816365,  -0.47842289,
                   0.19431916, -0.43021138, 0.50663324, -0.43991762, 0.09499978, -0.25490904, 0.37678211, -0.44546723};
  expectNear(attention(x, x, x, {.is_causal = true}), expected);
  Tensor later = tensor({{0, 1, 1}, {0, 0, 1}, {0, 0, 0}}, boolean);
  expectNear(attention(x, x, x, {.attn_mask = later}), expected);
}

TEST(MultiheadAttention, CrossAttentionAndMasks) {
  nn::MultiheadAttention attention = makeAttention();
  Tensor x = queries(), y = keys();
  expectNear(attention(x, y, y),
             {0.12290596, -0.28794855, 0.39206806, -0.43241085, 0.28401132, -0.51469284, 0.52738262, -0.38256155,
              0.18409395, -0.29424996, 0.33911781, -0.35688826, 0.20302123, -0.48739188, 0.57268251, -0.46908248,
              0.26680657, -0.34713951, 0.32554704, -0.28625781, 0.13952382, -0.42323719, 0.55231131, -0.50660617});
  expectNear(attention(x, y, y, {.key_padding_mask = padding()}),
             {0.1227866,  -0.33104026, 0.44852066, -0.4631189,  0.25024421, -0.55169773, 0.60952575, -0.45294133,
              0.19645568, -0.33263596, 0.37693763, -0.36794361, 0.18717982, -0.48246912, 0.58208846, -0.48630153,
              0.25733766, -0.29033241, 0.26075274, -0.25836015, 0.13876232, -0.42488651, 0.55522895, -0.50877103});
  expectNear(attention(x, y, y, {.attn_mask = sines({3, 5}, 1), .key_padding_mask = padding()}),
             {0.08739391, -0.29130621, 0.43196954, -0.48121588, 0.12584123, -0.41423961, 0.55423148, -0.51811396,
              0.19565281, -0.31853844, 0.35931099, -0.35899805, 0.13213375, -0.46580708, 0.61535246, -0.54644916,
              0.13743099, -0.20872724, 0.27397802, -0.35725455, 0.18381304, -0.39936269, 0.47681127, -0.43178042});
  expectNear(attention(x, y, y, {.attn_mask = sines({4, 3, 5}, 1)}),
             {0.10090091, -0.44845648, 0.62390308, -0.57497789, 0.05605485, -0.43993898, 0.65761432, -0.62756566,
              0.10697098, -0.11533093, 0.18234223, -0.33085656, 0.01369662, -0.46590518, 0.73391782, -0.70135006,
              0.14015506, -0.1559669,  0.20228103, -0.31628634, 0.30346825, -0.36435297, 0.31138829, -0.2505348});
  Tensor mask = tensor({{0, 1, 0, 0, 1}, {1, 0, 0, 0, 0}, {0, 0, 1, 0, 0}}, boolean);
  expectNear(attention(x, y, y, {.attn_mask = mask, .key_padding_mask = padding()}),
             {0.10278645, -0.2930733,  0.4188871,  -0.46234628, 0.10582028, -0.31704326, 0.44718888, -0.47537488,
              0.29626176, -0.47272479, 0.46026788, -0.33679136, 0.11230546, -0.48740374, 0.66341378, -0.58768246,
              0.10843448, -0.19425181, 0.28405098, -0.38489824, 0.14980044, -0.4229228,  0.54162369, -0.49294877});
}

TEST(MultiheadAttention, SequenceFirstAndNoBatch) {
  nn::MultiheadAttention rows = makeAttention(), attention = makeAttention(nn::MultiheadAttention::Options());
  Tensor x = queries(), y = keys();
  Numbers expected = rows(x, y, y).transpose(0, 1).to_vector<double>();
  expectNear(attention(x.transpose(0, 1), y.transpose(0, 1), y.transpose(0, 1)), expected);
  expectNear(rows(x[0], y[0], y[0]), rows(x, y, y)[0].to_vector<double>());
}

TEST(MultiheadAttention, Gradients) {
  nn::MultiheadAttention attention = makeAttention();
  Tensor x = queries().requires_grad_();
  Tensor y = attention(x, x, x, {.is_causal = true});
  (y * y).sum().backward();
  expectNear(x.grad(),
             {0.13357909, 0.61916431,  0.53549273,  -0.0405084,  0.43495219,  0.225345,   -0.19144335, -0.43221956,
              0.05854393, -0.01819532, -0.07820588, -0.06631432, 0.39943853,  0.47979868, 0.11903413,  -0.35116985,
              0.07595122, -0.06354048, -0.14461336, -0.09272938, -0.07356438, 0.00021672, 0.07379857,  0.07953035});
  expectNear(attention.in_proj_bias.grad(), {0.32255743, 0.54508047, 0.26893664, -0.34111325, 0.0, 0.0, 0.0, 0,
                                             -4.54743889, -5.73656646, -1.65152128, 3.95192495});
  expectNear(attention.in_proj_weight.grad().select(1, 0),
             {0.09228, -0.13223296, -0.11083401, -0.02294264, 0.06823774, 0.18656955, 0.1248884, -0.00972169,
              -1.06908814, -1.34234058, -0.26256283, 1.23731073});
}

TEST(MultiheadAttention, StartsAsPyTorch) {
  nn::MultiheadAttention attention(8, 2);
  std::string names;
  for (const auto &[name, tensor] : attention.state_dict())
    names += name + tensor.shape().str() + " ";
  EXPECT_EQ(names, "in_proj_weight[24, 8] in_proj_bias[24] out_proj.weight[8, 8] out_proj.bias[8] ");
  EXPECT_EQ(abs(attention.in_proj_bias).sum().item() + abs(attention.out_proj.bias).sum().item(), 0);
  double bound = std::sqrt(6.0 / 32), largest = abs(attention.in_proj_weight).max().item();
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.8 * bound);
  EXPECT_EQ(nn::MultiheadAttention(8, 2, {.bias = false}).state_dict().size(), 2u);
}

TEST(MultiheadAttention, Messages) {
  EXPECT_ERROR("MultiheadAttention: expected embed_dim divisible by num_heads, got 10 and 3",
               nn::MultiheadAttention(10, 3));
  nn::MultiheadAttention attention = makeAttention();
  EXPECT_ERROR("MultiheadAttention: expected query, key and value, all of 2 or all of 3 dims",
               attention(zeros({2, 3, 4}, f64), zeros({3, 4}, f64), zeros({3, 4}, f64)));
  EXPECT_ERROR("MultiheadAttention: expected 4 features, got [2, 3, 5]", attention(zeros({2, 3, 5}, f64)));
}
