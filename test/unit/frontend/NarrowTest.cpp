// Tensors of 16-bit floats. Expected values by hand: bf16 has 8 digits, so integers above 256 are even; f16 has 11.
#include "ErrorText.h"

#include "dlc/runtime/Float16.h"

#include <cmath>
#include <limits>
#include <sstream>

using namespace dlc;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

TEST(Narrow, HoldsWhatWasRounded) {
  Tensor x = tensor({1, 257, 259, 1.00390625, 1e39}, bf16);
  EXPECT_EQ(x.dtype(), bf16);
  EXPECT_EQ(x.to_vector<float>(), (Floats{1, 256, 260, 1, std::numeric_limits<float>::infinity()}));
  Tensor y = tensor({2049, 2051, 65519, 65520, 1e-8}, f16);
  EXPECT_EQ(y.to_vector<float>(), (Floats{2048, 2052, 65504, std::numeric_limits<float>::infinity(), 0}));
  EXPECT_EQ(tensor(0.1, f16).item(), 0.0999755859375);
  std::ostringstream text;
  text << tensor({1.5, -2}, bf16);
  EXPECT_EQ(text.str(), "[1.5, -2] : bf16 [2]");
}

TEST(Narrow, PromotionFollowsPyTorch) {
  Tensor b = ones({2}, bf16), h = ones({2}, f16), f = ones({2}, f32), i = ones({2}, i64);
  EXPECT_EQ((b + 1.5).dtype(), bf16);
  EXPECT_EQ((b + i).dtype(), bf16);
  EXPECT_EQ((h + f).dtype(), f32);
  EXPECT_EQ((b + h).dtype(), f32);
  EXPECT_EQ((b + tensor(1, f32)).dtype(), bf16);
  EXPECT_EQ(b.sum().dtype(), bf16);
}

// 1 + 2^-8 is a tie, to the even 1; each operation rounds, wherever it is fused.
TEST(Narrow, EveryOperationRounds) {
  Tensor one = ones({3}, bf16), small = full({3}, 0.00390625, bf16);
  Tensor sum = one + small + small;
  EXPECT_EQ(sum.to_vector<float>(), (Floats{1, 1, 1}));
  EXPECT_EQ((small + small + one).to_vector<float>(), (Floats{1.0078125, 1.0078125, 1.0078125}));
}

// 512 ones: adding in bf16 would end at 256.
TEST(Narrow, SumsAreOfF32) {
  EXPECT_EQ(ones({512}, bf16).sum().item(), 512);
  EXPECT_EQ(ones({512, 3}, bf16).sum(0).to_vector<float>(), (Floats{512, 512, 512}));
  EXPECT_EQ(matmul(ones({2, 512}, bf16), ones({512, 1}, bf16)).to_vector<float>(), (Floats{512, 512}));
  EXPECT_EQ(matmul(ones({2, 4096}, f16), ones({4096, 1}, f16)).to_vector<float>(), (Floats{4096, 4096}));
}

// 2^60 + 2^52 is a tie of bf16; one more is above it, which no f64 can tell.
TEST(Narrow, IntegersRoundOnce) {
  int64_t tie = (int64_t(1) << 60) + (int64_t(1) << 52);
  std::vector<int64_t> values = {tie, tie + 1, -tie - 1, tie - 1, (int64_t(1) << 62), -3};
  Tensor x = tensor<int64_t>(values, {6});
  double low = 0x1p60, high = 0x1.02p60;
  EXPECT_EQ(x.to(bf16).to_vector<double>(), (Doubles{low, high, -high, low, 0x1p62, -3}));
  std::vector<int32_t> ints = {2049, 2051, 65519, 65520, -65520};
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(tensor<int32_t>(ints, {5}).to(f16).to_vector<double>(), (Doubles{2048, 2052, 65504, infinity, -infinity}));
}

// A number just above a tie of bf16 that f32 rounds onto the tie.
TEST(Narrow, DoublesRoundOnce) {
  Tensor x = tensor({1.00390625 + 0x1p-40, 1.00390625, 1.00390625 - 0x1p-40}, f64);
  EXPECT_EQ(x.to(bf16).to_vector<double>(), (Doubles{1.0078125, 1, 1}));
  Tensor y = tensor({1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11}, f64);
  EXPECT_EQ(y.to(f16).to_vector<double>(), (Doubles{1.0009765625, 1}));
}

TEST(Narrow, AllPatternsConvert) {
  for (DType type : {f16, bf16}) {
    std::vector<uint16_t> bits(65536);
    for (size_t i = 0; i < bits.size(); ++i)
      bits[i] = uint16_t(i);
    Tensor x = from_blob(bits.data(), {65536}, type);
    std::vector<float> wide = x.to(f32).to_vector<float>();
    std::vector<double> wider = x.to(f64).to_vector<double>();
    for (size_t i = 0; i < bits.size(); ++i) {
      float expected = type == f16 ? float(Float16::fromBits(bits[i])) : float(BFloat16::fromBits(bits[i]));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(wide[i]) && std::isnan(wider[i])) << i;
        continue;
      }
      ASSERT_EQ(wide[i], expected) << i;
      ASSERT_EQ(wider[i], double(expected)) << i;
    }
    EXPECT_EQ(x.to(f32).to(type).to_vector<float>().at(77), x.to_vector<float>().at(77));
  }
}

TEST(Narrow, GradientsAreOfTheParametersType) {
  Tensor w = tensor({1, 2}, bf16), x = tensor({3, 4}, bf16);
  w.requires_grad_();
  (w * x).sum().backward();
  EXPECT_EQ(w.grad().dtype(), bf16);
  EXPECT_EQ(w.grad().to_vector<float>(), (Floats{3, 4}));
}
