#include "ErrorText.h"

#include <thread>

using namespace dlc;
using Floats = std::vector<float>;

// 1 + 2^-8 lies in the middle between two bf16, 1 and 1 + 2^-7: it becomes 1. f16 has it.
namespace {
constexpr float kBetween = 1.00390625f;

Tensor between(int64_t rows, int64_t columns) { return full({rows, columns}, kBetween, f32); }
Tensor ones2(int64_t rows, int64_t columns) { return full({rows, columns}, 1.0f, f32); }
} // namespace

TEST(Autocast, ProductsRoundAndKeepTheirDtype) {
  Tensor x = between(1, 1), one = ones2(1, 1);
  EXPECT_EQ(matmul(x, one).item<float>(), kBetween);
  Autocast scope(bf16);
  Tensor y = matmul(x, one);
  EXPECT_EQ(y.dtype(), f32);
  EXPECT_EQ(y.item<float>(), 1.0f);
}

TEST(Autocast, ScopesNest) {
  Tensor x = between(1, 1), one = ones2(1, 1);
  EXPECT_EQ(autocast_dtype(), std::nullopt);
  {
    Autocast outer(bf16);
    EXPECT_EQ(autocast_dtype(), bf16);
    {
      Autocast off(false);
      EXPECT_EQ(autocast_dtype(), std::nullopt);
      EXPECT_EQ(matmul(x, one).item<float>(), kBetween);
      Autocast half(f16);
      EXPECT_EQ(matmul(x, one).item<float>(), kBetween);
    }
    EXPECT_EQ(matmul(x, one).item<float>(), 1.0f);
    Autocast disabled(f16, false);
    EXPECT_EQ(matmul(x, one).item<float>(), kBetween);
  }
  EXPECT_EQ(autocast_dtype(), std::nullopt);
  EXPECT_EQ(matmul(x, one).item<float>(), kBetween);
}

TEST(Autocast, IsOfItsThread) {
  Autocast scope(bf16);
  std::optional<DType> other = bf16;
  std::thread([&] { other = autocast_dtype(); }).join();
  EXPECT_EQ(other, std::nullopt);
}

TEST(Autocast, OtherDtypesAreErrors) {
  EXPECT_ERROR("Autocast: expected bf16 or f16, got f32", Autocast scope(f32));
  EXPECT_EQ(autocast_dtype(), std::nullopt);
}

// 257 needs nine digits, bf16 has eight.
TEST(Autocast, SumsAreInF32) {
  Autocast scope(bf16);
  Tensor y = matmul(ones2(257, 1), ones2(1, 1));
  EXPECT_EQ(y.sum().item<float>(), 257.0f);
}

// AMP-09
TEST(Autocast, AWeightThatChangedInPlaceIsCastAnew) {
  Tensor w = ones2(1, 1), x = full({1, 1}, 2.0f, f32);
  w.requires_grad_();
  Autocast scope(bf16);
  Tensor first = matmul(x, w);
  {
    NoGrad off;
    w.fill_(3.0);
  }
  Tensor second = matmul(x, w);
  EXPECT_EQ(first.item<float>(), 2.0f);
  EXPECT_EQ(second.item<float>(), 6.0f);
}

// AMP-09
TEST(Autocast, SeveralStepsInOneScope) {
  struct Net : nn::Module {
    nn::Linear fc = add("fc", nn::Linear(1, 1, {.bias = false}));
    Tensor forward(Tensor x) override { return fc(x); }
  };
  Net model;
  {
    NoGrad off;
    model.fc.weight.fill_(1.0);
  }
  optim::SGD optimizer(model.parameters(), {.lr = 1.0});
  Tensor x = ones2(1, 1);
  auto step = jit([&](Tensor input) {
    optimizer.zero_grad();
    Tensor loss = model(input).sum();
    loss.backward();
    optimizer.step();
    return loss;
  });
  Autocast scope(bf16);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(step(x).item<float>(), 1.0f - float(i)) << i;
}

// Each product goes by where it was recorded, wherever backward() is called.
TEST(Autocast, BackwardKeepsEachOperationsOwnMark) {
  for (bool inside : {false, true})
    for (bool backwardInside : {false, true}) {
      Tensor w = ones2(1, 1), x = between(1, 1);
      w.requires_grad_();
      Tensor y;
      {
        Autocast scope(bf16, inside);
        y = matmul(x, w).sum();
      }
      Autocast scope(bf16, backwardInside);
      y.backward();
      EXPECT_EQ(w.grad().item<float>(), inside ? 1.0f : kBetween) << inside << backwardInside;
      EXPECT_EQ(w.grad().dtype(), f32);
    }
}

TEST(Autocast, AGraphThatRunsTwiceKeepsItsMarks) {
  Tensor w = ones2(1, 1), x = between(1, 1);
  w.requires_grad_();
  Tensor y;
  {
    Autocast scope(bf16);
    y = matmul(x, w).sum();
  }
  EXPECT_EQ(y.item<float>(), 1.0f);
  y.backward();
  EXPECT_EQ(w.grad().item<float>(), 1.0f);
}

TEST(Autocast, ToggledFunctionsCompileOncePerMode) {
  auto product = jit([](Tensor x, Tensor y) { return matmul(x, y); });
  Tensor x = between(1, 1), one = ones2(1, 1);
  auto call = [&](bool enabled) {
    Autocast scope(bf16, enabled);
    return product(x, one).item<float>();
  };
  EXPECT_EQ(call(false), kBetween);
  EXPECT_EQ(call(true), 1.0f);
  EXPECT_EQ(product.entries(), 2u);
  EXPECT_EQ(call(false), kBetween);
  EXPECT_EQ(call(true), 1.0f);
  EXPECT_EQ(product.entries(), 2u);
}

// A bias is added in f32, and the sum rounded once: 1 and 2^-8 + 2^-17 give 1 + 2^-7, as 2^-17 breaks the tie.
TEST(Autocast, ABiasOfACompiledGraphIsNotRounded) {
  nn::Linear fc(1, 1);
  {
    NoGrad off;
    fc.weight.fill_(1.0);
    fc.bias.fill_(kBetween - 1 + 0x1p-17f);
  }
  Autocast scope(bf16);
  EXPECT_EQ(fc(ones2(1, 1)).item<float>(), 1.0078125f);
}

TEST(Autocast, BodiesOfScansHaveMarks) {
  Tensor one = ones2(1, 1), h = ones2(1, 1);
  auto body = [&](Tensor carry, Tensor x) { return std::pair(matmul(carry, one) * x, x); };
  Tensor xs = full({1, 1, 1}, kBetween, f32);
  Autocast scope(bf16);
  // The last product is of f32 and 16 bits: not rounded.
  EXPECT_EQ(scan(body, h, xs).first.item<float>(), kBetween);
  auto rounds = [&](Tensor carry, Tensor x) { return std::pair(matmul(carry, x), x); };
  EXPECT_EQ(scan(rounds, h, xs).first.item<float>(), 1.0f);
}

TEST(Autocast, UpdatesInAScopeAreInF32) {
  nn::Linear fc(1, 1, {.bias = false});
  {
    NoGrad off;
    fc.weight.fill_(1.0);
  }
  optim::SGD optimizer(fc.parameters(), {.lr = 0x1p-10});
  Autocast scope(bf16);
  fc(ones2(1, 1)).sum().backward();
  optimizer.step();
  EXPECT_EQ(fc.weight.item<float>(), 1.0f - 0x1p-10f);
}
