#include "../EvaluatedModule.h"
#include "dlc/passes/Passes.h"

#include <cmath>

using namespace dlc;

static double gradient(llvm::StringRef text, llvm::ArrayRef<double> fills, size_t index = 0,
                       dl::ReferencePrecision precision = dl::ReferencePrecision::Double) {
  EvaluatedModule module(text);
  module.run(passes::createForwardStatePass(), passes::createAutodiffPass());
  return module.scalar(fills, index, precision);
}

// where(x <= 0, exp(x), 1 + x): at 100 the branch not taken is infinite in f32, its weight is 0 (GRAD-03).
constexpr const char *kHandMadeElu = R"(
  func.func @elu(%x: tensor<f32>) -> tensor<f32> {
    %zero = dl.constant dense<0.0> : tensor<f32>
    %one = dl.constant dense<1.0> : tensor<f32>
    %p = dl.compare le, %x, %zero : tensor<f32>
    %e = dl.exp %x : tensor<f32>
    %l = dl.add %one, %x : tensor<f32>
    %y = dl.select %p, %e, %l : tensor<f32>
    %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
    return %g : tensor<f32>
  })";

TEST(Autodiff, BranchNotTakenContributesExactlyZero) {
  EXPECT_EQ(gradient(kHandMadeElu, {100}, 0, dl::ReferencePrecision::Declared), 1.0);
  EXPECT_EQ(gradient(kHandMadeElu, {1000}), 1.0);
  EXPECT_NEAR(gradient(kHandMadeElu, {-1}), std::exp(-1.0), 1e-15);
}

TEST(Autodiff, NanOfTheTakenBranchTravels) {
  EXPECT_TRUE(std::isnan(gradient(R"(
    func.func @f(%x: tensor<f32>, %d: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
      %t = dl.mul %x, %d : tensor<f32>
      %y = dl.select %p, %t, %x : tensor<f32>
      %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
      return %g : tensor<f32>
    })",
                                  {1, NAN, 1})));
}

// x/0 masked out, plus x*d unmasked: the sum must not be masked.
TEST(Autodiff, SumOfMaskedAndUnmaskedIsUnmasked) {
  EXPECT_EQ(gradient(R"(
    func.func @f(%x: tensor<f32>, %zero: tensor<f32>, %d: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
      %s = dl.mul %x, %d : tensor<f32>
      %q = dl.div %s, %zero : tensor<f32>
      %c = dl.select %p, %q, %d : tensor<f32>
      %y = dl.add %c, %s : tensor<f32>
      %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
      return %g : tensor<f32>
    })",
                     {2, 0, 3, 0}),
            3);
}

// Two branches of which one is taken: the mask of the sum is their union, so the taken one counts.
TEST(Autodiff, SumOfMaskedIsMaskedByTheUnion) {
  EXPECT_EQ(gradient(R"(
    func.func @f(%x: tensor<f32>, %d: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
      %s = dl.mul %x, %d : tensor<f32>
      %m = dl.neg %s : tensor<f32>
      %y = dl.select %p, %s, %m : tensor<f32>
      %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
      return %g : tensor<f32>
    })",
                     {2, 5, 0}),
            -5);
}

TEST(Autodiff, DerivativesOfACubic) {
  constexpr const char *text = R"(
    func.func @f(%x: tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
      %x2 = dl.mul %x, %x : tensor<f64>
      %y = dl.mul %x2, %x : tensor<f64>
      %g = dl.gradient %y wrt %x : tensor<f64>, tensor<f64>
      %h = dl.gradient %g wrt %x : tensor<f64>, tensor<f64>
      %t = dl.gradient %h wrt %x : tensor<f64>, tensor<f64>
      return %g, %h, %t : tensor<f64>, tensor<f64>, tensor<f64>
    })";
  EXPECT_DOUBLE_EQ(gradient(text, {2}, 0), 12);
  EXPECT_DOUBLE_EQ(gradient(text, {2}, 1), 12);
  EXPECT_DOUBLE_EQ(gradient(text, {-3}, 0), 27);
  EXPECT_DOUBLE_EQ(gradient(text, {-3}, 1), -18);
  EXPECT_DOUBLE_EQ(gradient(text, {-3}, 2), 6);
}

// L = x*x*y, p = (dL/dx)^2 = 4 x^2 y^2 (a gradient penalty).
TEST(Autodiff, GradientOfAGradient) {
  constexpr const char *text = R"(
    func.func @f(%x: tensor<f64>, %y: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
      %x2 = dl.mul %x, %x : tensor<f64>
      %l = dl.mul %x2, %y : tensor<f64>
      %g = dl.gradient %l wrt %x : tensor<f64>, tensor<f64>
      %p = dl.mul %g, %g : tensor<f64>
      %h:2 = dl.gradient %p wrt %x, %y : tensor<f64>, tensor<f64>, tensor<f64>
      return %h#0, %h#1 : tensor<f64>, tensor<f64>
    })";
  EXPECT_DOUBLE_EQ(gradient(text, {3, 5}, 0), 8 * 3 * 25);
  EXPECT_DOUBLE_EQ(gradient(text, {3, 5}, 1), 8 * 9 * 5);
}

TEST(Autodiff, LossByItselfIsOne) {
  EXPECT_EQ(gradient(R"(
    func.func @f(%x: tensor<f32>) -> tensor<f32> {
      %y = dl.exp %x : tensor<f32>
      %g = dl.gradient %y wrt %y : tensor<f32>, tensor<f32>
      return %g : tensor<f32>
    })",
                     {3}),
            1);
}

// w is written, then read: the loss depends on what was written, its derivative stops there (PyTorch's leaf).
TEST(Autodiff, DerivativeDoesNotCrossAVariable) {
  constexpr const char *text = R"(
    dl.variable @w : tensor<f32> role(parameter) init(#dl.zeros)
    func.func @f(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) attributes {dl.entry} {
      %x2 = dl.mul %x, %x : tensor<f32>
      dl.write @w, %x2 : tensor<f32>
      %w = dl.read @w : tensor<f32>
      %y = dl.mul %w, %x : tensor<f32>
      %g:2 = dl.gradient %y wrt %x, %w : tensor<f32>, tensor<f32>, tensor<f32>
      return %y, %g#0, %g#1 : tensor<f32>, tensor<f32>, tensor<f32>
    })";
  EXPECT_EQ(gradient(text, {3}, 0), 27);
  EXPECT_EQ(gradient(text, {3}, 1), 9);
  EXPECT_EQ(gradient(text, {3}, 2), 3);
}

TEST(Autodiff, GrowsLinearly) {
  constexpr int length = 2000;
  std::string text = "func.func @f(%v0: tensor<f32>) -> tensor<f32> {\n";
  for (int i = 0; i < length; ++i)
    text += "%v" + std::to_string(i + 1) + " = dl.mul %v" + std::to_string(i) + ", %v0 : tensor<f32>\n";
  std::string last = "%v" + std::to_string(length);
  text += "%g = dl.gradient " + last + " wrt %v0 : tensor<f32>, tensor<f32>\nreturn %g : tensor<f32>\n}";
  EvaluatedModule module(text);
  module.run(passes::createAutodiffPass());
  auto operations = llvm::range_size(module.first().getBody().front());
  EXPECT_LT(operations, 5 * length); // the chain, two products and a sum each
  EXPECT_NEAR(module.scalar({1}), length + 1, 1e-9);
}
