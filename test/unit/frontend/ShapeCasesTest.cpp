#include "ErrorText.h"

#include <cmath>

using namespace dlc;
using Floats = std::vector<float>;

// Faults of other systems, by the names of the project's list.
TEST(ShapeCases, SHAPE_01_EmptyAxes) {
  EXPECT_EQ(matmul(zeros({2, 0}), zeros({0, 2})).to_vector<float>(), (Floats{0, 0, 0, 0}));
  Tensor x = zeros({2, 0});
  EXPECT_EQ(x.sum(1).to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(x.prod(1).to_vector<float>(), (Floats{1, 1}));
  for (float value : x.mean(1).to_vector<float>())
    EXPECT_TRUE(std::isnan(value));
  EXPECT_ERROR("max: dim 1 of [2, 0] is empty and has no max", x.max(1));
}

TEST(ShapeCases, SHAPE_03_BatchedProductOfEmptyMatrices) {
  EXPECT_EQ(matmul(zeros({3, 0, 0}), zeros({0, 0})).shape(), Shape({3, 0, 0}));
  EXPECT_EQ(matmul(zeros({3, 0, 0}), zeros({0, 0})).to_vector<float>().size(), 0u);
}

TEST(ShapeCases, SHAPE_05_RankZero) {
  Tensor x = tensor(5.0);
  EXPECT_EQ(x.sum().item(), 5);
  EXPECT_EQ(x.max().item(), 5);
  EXPECT_EQ(x.mean().item(), 5);
  EXPECT_EQ(x.softmax(0).item(), 1);
  EXPECT_EQ(x.reshape({1, 1}).shape(), Shape({1, 1}));
  EXPECT_EQ((x + x.view({1})).shape(), Shape({1}));
}

TEST(ShapeCases, SHAPE_17_BoolsAndFloatsShareMemorySafely) {
  Tensor x = tensor({-4, -3, -2, -1, 1, 2, 3, 4});
  auto f = jit([](Tensor x) { return ((x > 0) & (x < 4)).to(f32) * 2 + x; });
  EXPECT_EQ(f(x).to_vector<float>(), (Floats{-4, -3, -2, -1, 3, 4, 5, 4}));
}

TEST(ShapeCases, GradientsOfEmptyTensors) {
  Tensor x = zeros({0, 3}).requires_grad_(), w = ones({3, 2}).requires_grad_();
  matmul(x, w).sum().backward();
  EXPECT_EQ(w.grad().to_vector<float>(), (Floats{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(x.grad().shape(), Shape({0, 3}));
}
