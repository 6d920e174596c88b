#include "ErrorText.h"

#include <sstream>

using namespace dlc;

// Every way to write an operation names the line where it stands.
TEST(Location, OperatorsNumbersAndCalls) {
  Tensor a = zeros({2}), b = zeros({3}), m = zeros({2, 2}), flags = zeros({2}, boolean);
  EXPECT_ERROR("add_: shapes [2] and [3] do not broadcast: dim 0 is 2 against 3", a += b);
  EXPECT_ERROR("lt: shapes [2] and [3] do not broadcast: dim 0 is 2 against 3", (void)(a < b));
  EXPECT_ERROR("where: shapes [2] and [3] do not broadcast: dim 0 is 2 against 3", where(flags, a, b));
  EXPECT_ERROR("cat: shapes [2] and [2, 2] differ outside dim 0", cat({a, m}));
  EXPECT_ERROR("add: not defined on i1; cast first, or use & and |", flags + flags);
  EXPECT_ERROR("mean: expected a tensor of floats, got i1 [2]", flags.mean());
  EXPECT_ERROR("sum: dim 4 is outside [-1, 1)", a.sum(4));
  EXPECT_ERROR("permute: [0, 0] is no order of the dims of [2, 2]", m.permute({0, 0}));
  EXPECT_ERROR("expand: [2] does not expand to [3]", a.expand({3}));
  EXPECT_ERROR("copy_: shapes [2] and [3] do not broadcast: dim 0 is 2 against 3", a.copy_(b));
  EXPECT_ERROR("copy_: shapes [2] and [3] do not broadcast: dim 0 is 2 against 3", m[0] = b);
  EXPECT_ERROR("mse_loss: input is [2], target is [3]; expected equal shapes", nn::mse_loss(a, b));
}

TEST(Location, Makers) {
  EXPECT_ERROR("arange: step is 0", arange(0, 3, 0));
  EXPECT_ERROR("tensor: rows of different lengths", tensor({{1, 2}, {3}}));
  EXPECT_THROW(zeros({int64_t(1) << 40}), Error) << "more than there is";
  try {
    zeros({int64_t(1) << 40});
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("LocationTest.cpp"), std::string::npos) << error.what();
  }
}

TEST(Location, UndefinedTensors) {
  Tensor none, a = zeros({2});
  EXPECT_ERROR("an undefined tensor has no value", a + none);
  EXPECT_ERROR("an undefined tensor has no value", none.sum());
}

TEST(Location, PrintingAnExpiredValueNamesTheLineOfThePrint) {
  Tensor leaked;
  auto f = jit([&](Tensor x) { leaked = x * 2; }, {.name = "f"});
  f(ones({2}));
  std::ostringstream out;
  std::string place = "LocationTest.cpp:" + std::to_string(__LINE__ - 3);
  EXPECT_ERROR("jit: this value was recorded in f (" + place + ") and not returned; it has no value outside",
               out << leaked);
}

TEST(Location, ModulesAddTheirCallers) {
  struct Inner : nn::Module {
    Tensor forward(Tensor x) override { return x + zeros({7}); }
  };
  struct Outer : nn::Module {
    Inner inner = add("inner", Inner());
    Tensor forward(Tensor x) override {
      return inner(x); // the middle of the chain
    }
  };
  Outer model;
  try {
    model(zeros({2}));
    FAIL() << "no error";
  } catch (const Error &error) {
    unsigned call = __LINE__ - 3;
    EXPECT_EQ(error.where().line(), call - 10);
    ASSERT_EQ(error.chain().size(), 2u) << error.what();
    EXPECT_EQ(error.chain()[0].line(), call - 5);
    EXPECT_EQ(error.chain()[1].line(), call);
  }
}
