#include "ErrorText.h"

#include <cstring>

using namespace dlc;
using Floats = std::vector<float>;

namespace {

struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(4, 8)), fc2 = add("fc2", nn::Linear(8, 3));
  Tensor forward(Tensor x) override { return fc2(relu(fc1(x))); }
};

Tensor inputs(int step) { return (arange(20, f32) * 0.1 - step * 0.3).view({5, 4}); }
Tensor targets() { return tensor({0, 1, 2, 1, 0}, i64); }

std::string remarks;
void collect(const std::string &text) { remarks += text + "\n"; }

bool sameBits(const Tensor &a, const Tensor &b) {
  Floats x = a.to_vector<float>(), y = b.to_vector<float>();
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

} // namespace

TEST(Jit, AStepEqualsDefineByRunBitForBit) {
  manual_seed(1);
  Net a;
  manual_seed(1);
  Net b;
  optim::SGD optimizerA(a.parameters(), {.lr = 0.1, .momentum = 0.9}),
      optimizerB(b.parameters(), {.lr = 0.1, .momentum = 0.9});
  auto body = [](Net &model, optim::SGD &optimizer, Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::cross_entropy(model(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  };
  auto step = jit([&](Tensor x, Tensor y) { return body(a, optimizerA, x, y); });
  int64_t compiled = 0;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(sameBits(step(inputs(i), targets()), body(b, optimizerB, inputs(i), targets()))) << i;
    dlc::sync();
    EXPECT_TRUE(sameBits(a.fc1.weight, b.fc1.weight)) << i;
    if (i == 1)
      compiled = dlc::testing::compile_count();
  }
  EXPECT_EQ(step.entries(), 1u);
  EXPECT_EQ(dlc::testing::compile_count(), compiled);
  optimizerA.set_lr(0.01);
  optimizerB.set_lr(0.01);
  EXPECT_TRUE(sameBits(step(inputs(9), targets()), body(b, optimizerB, inputs(9), targets())));
  EXPECT_TRUE(sameBits(a.fc2.bias, b.fc2.bias));
  EXPECT_EQ(step.entries(), 1u);
}

// A frozen parameter must stay as it is, also in a function that was compiled before it was frozen.
TEST(Jit, FreezingIsAFactThatSteersTheStep) {
  manual_seed(2);
  Net model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::cross_entropy(model(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  step(inputs(0), targets());
  Tensor before = model.fc1.weight.clone();
  model.fc1.weight.requires_grad_(false);
  step(inputs(0), targets());
  EXPECT_TRUE(sameBits(model.fc1.weight, before));
  EXPECT_EQ(step.entries(), 2u);
  model.fc1.weight.requires_grad_(true);
  step(inputs(0), targets());
  EXPECT_FALSE(sameBits(model.fc1.weight, before));
  EXPECT_EQ(step.entries(), 2u);
}

TEST(Jit, TheBodyIsNotRunAgain) {
  int runs = 0;
  auto f = jit(
      [&](Tensor x) {
        ++runs;
        return x * 2;
      },
      {.check = false});
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(f(tensor({1, double(i)})).to_vector<float>(), (Floats{2, 2.f * i}));
  EXPECT_EQ(runs, 1);
  f(tensor({1, 2, 3}));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(f.entries(), 2u);
}

TEST(Jit, SpentGradientsAreNotReadable) {
  Net model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  unsigned line = 0;
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::cross_entropy(model(x), y);
    loss.backward();
    line = __LINE__, optimizer.step();
    return loss;
  });
  step(inputs(0), targets());
  EXPECT_ERROR("grad: gradient of fc1.weight was used by optimizer.step() (JitTest.cpp:" + std::to_string(line) +
                   ") and not kept; return it, or set .keep_grads",
               model.fc1.weight.grad());
  auto keeping = jit(
      [&](Tensor x, Tensor y) {
        optimizer.zero_grad();
        nn::cross_entropy(model(x), y).backward();
        optimizer.step();
      },
      {.keep_grads = true});
  keeping(inputs(0), targets());
  EXPECT_TRUE(model.fc1.weight.grad().defined());
}

TEST(Jit, UnusedGradientsAccumulateOverCalls) {
  Tensor w = tensor({1, 2}).requires_grad_();
  auto f = jit([&](Tensor x) { (w * x).sum().backward(); });
  for (int i = 1; i <= 3; ++i) {
    f(tensor({1, 10}));
    EXPECT_EQ(w.grad().to_vector<float>(), (Floats{1.f * i, 10.f * i}));
  }
  EXPECT_EQ(f.entries(), 2u);
}

TEST(Jit, CapturedTensorsAreKnownByIdentity) {
  Tensor mask = tensor({1, 0}), total = zeros({2});
  auto f = jit([&](Tensor x) {
    total += x * mask;
    return x + mask;
  });
  EXPECT_EQ(f(tensor({5, 6})).to_vector<float>(), (Floats{6, 6}));
  mask += 1; // in place: the same storage
  EXPECT_EQ(f(tensor({5, 6})).to_vector<float>(), (Floats{7, 7}));
  EXPECT_EQ(total.to_vector<float>(), (Floats{15, 6}));
  mask = tensor({0, 0}); // rebound
  EXPECT_EQ(f(tensor({5, 6})).to_vector<float>(), (Floats{5, 6}));
  EXPECT_EQ(total.to_vector<float>(), (Floats{15, 6}));
}

TEST(Jit, ValuesThatAreNotReturnedExpire) {
  Tensor total = zeros({2});
  unsigned line = 0;
  auto f = (line = __LINE__, jit([&](Tensor x) { total = total + x; }, {.name = "train_step"}));
  f(tensor({1, 2}));
  EXPECT_ERROR("jit: this value was recorded in train_step (JitTest.cpp:" + std::to_string(line) +
                   ") and not returned; it has no value outside",
               total.to_vector<float>());
}

TEST(Jit, NeedingAValueTracesAtEveryCall) {
  remarks.clear();
  set_remark_handler(collect);
  int runs = 0;
  auto f = jit([&](Tensor x) {
    ++runs;
    if (x.sum() > 0)
      return x * 2;
    return x * 3;
  });
  EXPECT_EQ(f(tensor({1, 1})).to_vector<float>(), (Floats{2, 2}));
  EXPECT_EQ(f(tensor({-1, -1})).to_vector<float>(), (Floats{-3, -3}));
  EXPECT_EQ(f(tensor({2, 1})).to_vector<float>(), (Floats{4, 2}));
  EXPECT_EQ(runs, 3);
  EXPECT_NE(remarks.find("jit: item() needs a value while recording; main is traced again at every call"),
            std::string::npos)
      << remarks;
  auto strict = jit([](Tensor x) { return x * x.sum().item(); }, {.fullgraph = true});
  EXPECT_THROW(strict(tensor({1, 2})), Error);
  set_remark_handler(nullptr);
}

TEST(Jit, ExceptionsLeaveNoTrace) {
  Net model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  Tensor before = model.fc1.weight.clone(), total = zeros({});
  bool fail = true;
  auto step = jit([&](Tensor x, Tensor y) {
    Tensor loss = nn::cross_entropy(model(x), y);
    loss.backward();
    optimizer.step();
    total += loss;
    if (fail)
      throw std::runtime_error("user");
    return loss;
  });
  EXPECT_THROW(step(inputs(0), targets()), std::runtime_error);
  EXPECT_TRUE(sameBits(model.fc1.weight, before));
  EXPECT_EQ(total.item(), 0);
  EXPECT_FALSE(model.fc1.weight.grad().defined());
  fail = false;
  Tensor loss = step(inputs(0), targets());
  EXPECT_EQ(total.item(), loss.item());
  EXPECT_FALSE(sameBits(model.fc1.weight, before));
}

TEST(Jit, NestedFunctionsAreInlined) {
  auto inner = jit([](Tensor x) { return x + 1; });
  auto outer = jit([&](Tensor x) { return inner(x) * 2; });
  EXPECT_EQ(outer(tensor({1, 2})).to_vector<float>(), (Floats{4, 6}));
  EXPECT_EQ(inner.entries(), 0u);
}

TEST(Jit, StructuredArgumentsAndResults) {
  auto f = jit([](std::vector<Tensor> list, int64_t scale, Scalar shift) {
    Tensor sum = list[0];
    for (size_t i = 1; i < list.size(); ++i)
      sum = sum + list[i];
    return std::pair(sum * scale + shift, list[0]);
  });
  Tensor a = tensor({1}), b = tensor({2});
  auto [sum, first] = f({a, b}, 10, 0.5);
  EXPECT_EQ(sum.item(), 30.5);
  EXPECT_TRUE(first.shares_storage_with(a));
  EXPECT_EQ(std::get<0>(f({a, b}, 10, 0.25)).item(), 30.25);
  EXPECT_EQ(f.entries(), 1u);
  EXPECT_EQ(std::get<0>(f({a, b, b}, 20, 0.25)).item(), 100.25);
  EXPECT_EQ(f.entries(), 2u);
}

TEST(Jit, ArgumentsByReferenceStayWithTheCaller) {
  auto f = jit([](const Tensor &x, Tensor &y) { return x + y; });
  Tensor a = tensor({1}), b = tensor({2});
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(f(a, b).item(), 3);
  EXPECT_TRUE(a.defined() && b.defined());
}

TEST(Jit, OutputsAreNeverOverwrittenUnderAHandle) {
  auto f = jit([](Tensor x) { return x * 1; });
  std::vector<Tensor> kept;
  kept.reserve(100);
  for (int i = 0; i < 100; ++i)
    kept.push_back(f(tensor({double(i)})));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(kept[i].item(), i);
}

TEST(Jit, TheLoopOfTheReadme) {
  struct SimpleCNN : nn::Module {
    nn::Conv2d conv1 = add("conv1", nn::Conv2d(1, 4, 3, {.padding = 1}));
    nn::Conv2d conv2 = add("conv2", nn::Conv2d(4, 4, 3, {.padding = 1}));
    nn::MaxPool2d pool = add("pool", nn::MaxPool2d(2));
    nn::Linear fc = add("fc", nn::Linear(16, 10));
    Tensor forward(Tensor x) override {
      x = pool(relu(conv1(x)));
      x = pool(relu(conv2(x)));
      return fc(x.flatten(1));
    }
  };
  SimpleCNN model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.9});
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::cross_entropy(model(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  TensorDataset data(arange(10 * 64, f32).view({10, 1, 8, 8}) * 0.001, arange(10));
  int batches = 0;
  float last = 0;
  for (auto [x, y] : DataLoader(data, {.batch_size = 4, .shuffle = true})) {
    last = step(x, y).item<float>();
    ++batches;
  }
  EXPECT_EQ(batches, 3);
  EXPECT_NEAR(last, 2.3, 0.5);
}

TEST(Jit, ReportsEachEntry) {
  auto twice = jit([](Tensor x) { return x + x; }, {.name = "twice"});
  EXPECT_ERROR("report: twice has no such compiled entry; call it first", twice.report());
  twice(ones({4}));
  twice(ones({8}));
  for (size_t entry : {0, 1}) {
    EXPECT_GT(twice.report(entry).trace_seconds, 0) << entry;
    EXPECT_GT(twice.report(entry).compile_seconds, 0) << entry;
  }
  EXPECT_ERROR("report: twice has no such compiled entry; call it first", twice.report(2));
}

TEST(JitCheck, RecordsAgainAtCallsThatArePowersOfTwo) {
  std::vector<int> calls;
  int call = 0;
  auto f = jit([&](Tensor x) {
    calls.push_back(call);
    return x * 2;
  });
  int64_t compiled = 0;
  for (call = 1; call <= 20; ++call) {
    EXPECT_EQ(f(tensor({double(call)})).item(), 2 * call);
    if (call == 1)
      compiled = dlc::testing::compile_count();
  }
  EXPECT_EQ(calls, (std::vector<int>{1, 2, 4, 8, 16}));
  EXPECT_EQ(f.entries(), 1u);
  EXPECT_EQ(dlc::testing::compile_count(), compiled);
}

// On the cpu every kernel is generated; a choice that there is not is refused all the same.
TEST(Jit, WhoMakesKernelsIsChecked) {
  auto twice = [](Tensor x) { return x + x; };
  for (const char *choice : {"", "auto", "library", "generated"})
    EXPECT_EQ(jit(twice, {.matmul = choice, .conv = choice})(full({2}, 1.5)).to_vector<float>(), Floats({3, 3}));
  EXPECT_ERROR("jit: expected matmul to be library, generated or auto, got 'cublas'",
               jit(twice, {.matmul = "cublas"})(full({2}, 1.5)));
  EXPECT_ERROR("jit: expected conv to be library, generated or auto, got 'cudnn'",
               jit(twice, {.conv = "cudnn"})(full({2}, 1.5)));
}

TEST(JitCheck, LeavesStateBitForBit) {
  auto run = [](bool check) {
    manual_seed(1);
    Net model;
    Tensor total = zeros({});
    optim::AdamW optimizer(model.parameters(), {.lr = 0.01});
    auto step = jit(
        [&](Tensor x, Tensor y) {
          optimizer.zero_grad();
          Tensor loss = nn::cross_entropy(model(x), y);
          loss.backward();
          optimizer.step();
          total += loss;
          return loss;
        },
        {.keep_grads = true, .check = check});
    Floats all;
    auto add = [&](const Tensor &tensor) {
      for (float value : tensor.to_vector<float>())
        all.push_back(value);
    };
    for (int i = 0; i < 9; ++i) {
      add(step(inputs(i), targets()));
      add(total);
      for (const auto &parameter : model.parameters()) {
        add(parameter);
        add(parameter.grad());
      }
      for (const auto &[name, tensor] : optimizer.state_dict())
        add(tensor.to(f32));
    }
    EXPECT_TRUE(model.is_training());
    add(rand({3}));
    return all;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(JitCheck, LeavesModuleFlagsAndTheGenerator) {
  Net model;
  auto f = jit([&](Tensor x) {
    model.eval();
    nn::Linear unused(2, 2);
    return x * 2;
  });
  f(tensor({1}));
  model.train();
  manual_seed(5);
  f(tensor({1}));
  EXPECT_TRUE(model.is_training());
  Floats drawn = rand({4}).to_vector<float>();
  manual_seed(5);
  EXPECT_EQ(rand({4}).to_vector<float>(), drawn);
  EXPECT_EQ(f.entries(), 1u);
}

TEST(JitCheck, ANumberThatChangesAtOnceIsTracedAtEveryCall) {
  remarks.clear();
  set_remark_handler(collect);
  double factor = 0;
  unsigned line = 0;
  auto f = jit(
      [&](Tensor x) {
        line = __LINE__ + 1;
        return x * factor;
      },
      {.name = "scale"});
  for (int i = 1; i <= 10; ++i) {
    factor = i;
    EXPECT_EQ(f(tensor({3})).item(), 3 * i);
  }
  EXPECT_NE(remarks.find("jit: number captured at JitTest.cpp:" + std::to_string(line) +
                         " was 1 when compiled, is 2 now; scale is traced again at every call"),
            std::string::npos)
      << remarks;
  set_remark_handler(nullptr);
}

TEST(JitCheck, ANumberThatChangesLaterIsAnError) {
  Tensor w = tensor({1, 2}), x = tensor({1, 1});
  double rate = 0.1;
  unsigned line = 0;
  auto step = jit([&](Tensor x) {
    line = __LINE__ + 1;
    w -= x * rate;
  });
  for (int call = 1; call <= 15; ++call) {
    if (call == 9)
      rate = 0.05;
    step(x);
  }
  Floats before = w.to_vector<float>();
  for (int i = 0; i < 2; ++i)
    try {
      step(x);
      ADD_FAILURE() << "no error";
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::StaleCapture);
      EXPECT_EQ(error.message(), "jit: number captured at JitTest.cpp:" + std::to_string(line) +
                                     " was 0.1 when compiled, is 0.05 now; calls 9 to 15 may have used 0.1. Use "
                                     "dlc::Scalar or a parameter");
      EXPECT_EQ(w.to_vector<float>(), before);
    }
  rate = 0.1;
  step(x);
  EXPECT_FLOAT_EQ(w.to_vector<float>()[0], before[0] - 0.1f);
}

TEST(JitCheck, ADifferentPathIsFound) {
  bool twice = false;
  auto body = [&](Tensor x) {
    if (twice)
      x = x * 2;
    if (twice && x.sum().item() < 0)
      x = x * 3;
    return x + 1;
  };
  set_remark_handler(nullptr);
  auto early = jit(body);
  EXPECT_EQ(early(tensor({1})).item(), 2);
  twice = true;
  EXPECT_EQ(early(tensor({1})).item(), 3);
  EXPECT_EQ(early(tensor({-1})).item(), -5);
  twice = false;
  auto late = jit(body, {.name = "late"});
  for (int call = 1; call <= 3; ++call)
    late(tensor({1}));
  twice = true;
  try {
    late(tensor({1}));
    ADD_FAILURE() << "no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(), "jit: late was compiled from other operations or tensors than it records now; call 3 "
                               "may have used the former ones. Use dlc::Scalar or a parameter");
  }
}
