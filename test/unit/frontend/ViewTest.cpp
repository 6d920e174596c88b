#include "ErrorText.h"

using namespace dlc;
using Floats = std::vector<float>;

TEST(View, SHAPE_07_ACopyKeepsTheOldValue) {
  Tensor src = tensor({0, 1, 2}), dst = src.clone();
  src += 1;
  EXPECT_EQ(dst.to_vector<float>(), (Floats{0, 1, 2}));
  EXPECT_EQ(src.to_vector<float>(), (Floats{1, 2, 3}));
}

TEST(View, SHAPE_09_FlipIntoTheSameTensor) {
  Tensor a = tensor({1, 2, 3, 4});
  a.copy_(flip(a, 0));
  EXPECT_EQ(a.to_vector<float>(), (Floats{4, 3, 2, 1}));
}

TEST(View, SHAPE_11_AViewIsReadAsItself) {
  Tensor base = arange(8, f32).view({2, 4}), v = base[1];
  EXPECT_EQ((v * 2).to_vector<float>(), (Floats{8, 10, 12, 14}));
}

TEST(View, SHAPE_15_TransposedWriteIntoASlice) {
  Tensor source = tensor({{1, 2, 3}, {4, 5, 6}}), target = zeros({3, 4});
  target.slice(1, 1, 3) = source.t();
  EXPECT_EQ(target.to_vector<float>(), (Floats{0, 1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0}));
}

TEST(View, WritesReachTheBaseAndOtherViews) {
  Tensor base = zeros({2, 3}), row = base[1], column = base.t()[0];
  row += 1;
  EXPECT_EQ(column.to_vector<float>(), (Floats{0, 1}));
  column.fill_(7);
  EXPECT_EQ(base.to_vector<float>(), (Floats{7, 0, 0, 7, 1, 1}));
  EXPECT_EQ(row.to_vector<float>(), (Floats{7, 1, 1}));
  base[0] = tensor({4, 5, 6});
  EXPECT_EQ(base.to_vector<float>(), (Floats{4, 5, 6, 7, 1, 1}));
  base.slice(1, 0, 3, 2)[1] += 10;
  EXPECT_EQ(base.to_vector<float>(), (Floats{4, 5, 6, 17, 1, 11}));
}

TEST(View, HandlesAliasAndAssignmentRebinds) {
  Tensor a = zeros({2}), b = a;
  b += 1;
  EXPECT_EQ(a.to_vector<float>(), (Floats{1, 1}));
  b = tensor({5, 5});
  EXPECT_EQ(a.to_vector<float>(), (Floats{1, 1}));
}

TEST(View, ReshapeAliasesExactlyWherePyTorchDoes) {
  Tensor x = zeros({2, 3, 4});
  EXPECT_TRUE(x.reshape({6, 4}).shares_storage_with(x));
  EXPECT_TRUE(x.transpose(0, 1).reshape({3, 2, 2, 2}).shares_storage_with(x));
  EXPECT_FALSE(x.transpose(0, 1).reshape({6, 4}).shares_storage_with(x));
  EXPECT_TRUE(x.slice(0, 0, 1).reshape({12}).shares_storage_with(x));
  EXPECT_TRUE(x.slice(1, 0, 2).reshape({2, 8}).shares_storage_with(x));
  EXPECT_FALSE(x.slice(1, 0, 2).reshape({16}).shares_storage_with(x));
  EXPECT_ERROR("view: shape [24] cannot be a view of this tensor's strides; use reshape()",
               x.transpose(0, 1).view({24}));
}

TEST(View, StridesAndContiguity) {
  Tensor x = zeros({2, 3, 4});
  EXPECT_EQ(x.strides(), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_EQ(x.transpose(0, 2).strides(), (std::vector<int64_t>{1, 4, 12}));
  EXPECT_FALSE(x.transpose(0, 2).is_contiguous());
  EXPECT_EQ(x.slice(2, 0, 4, 2).strides(), (std::vector<int64_t>{12, 4, 2}));
  EXPECT_EQ(x[1].strides(), (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(zeros({1, 3}).expand({5, 3}).strides(), (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(x.transpose(0, 2).contiguous().is_contiguous());
}

TEST(View, WritingThroughExpandIsRefused) {
  Tensor x = zeros({1, 3}), y = x.expand({2, 3});
  EXPECT_ERROR("add_: writing through expand would give one element several values; clone() it first", y += 1);
}

TEST(View, DetachSharesStorageWithoutGradient) {
  Tensor x = tensor({1, 2}).requires_grad_(), d = x.detach();
  EXPECT_FALSE(d.requires_grad());
  EXPECT_TRUE(d.shares_storage_with(x));
  Tensor loss = (x * d).sum();
  loss.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{1, 2}));
}

TEST(View, ReadingAnotherPartOfADataSetCompilesNothing) {
  Tensor data = arange(24, f32).view({6, 4});
  auto sum = [&](Tensor rows) { return (rows * 2).sum().item(); };
  EXPECT_EQ(sum(data.slice(0, 0, 2)), 56);
  EXPECT_EQ(sum(data.t().slice(0, 0, 2)), 2 * (0 + 4 + 8 + 12 + 16 + 20 + 1 + 5 + 9 + 13 + 17 + 21));
  int64_t before = dlc::testing::compile_count();
  EXPECT_EQ(sum(data.slice(0, 2, 4)), 184);
  EXPECT_EQ(sum(data.t().slice(0, 1, 4, 2)), 2 * (1 + 5 + 9 + 13 + 17 + 21 + 3 + 7 + 11 + 15 + 19 + 23));
  EXPECT_EQ(dlc::testing::compile_count(), before);
}
