#include "../TestFile.h"
#include "ErrorText.h"

#include <cmath>
#include <cstdlib>
#include <sstream>

using namespace dlc;
using Floats = std::vector<float>;

namespace {

/// DLC_TEST_DEVICE has the same tests run on another one.
const char *const sim = std::getenv("DLC_TEST_DEVICE") ? std::getenv("DLC_TEST_DEVICE") : "sim:0";

std::string remarks;
void collect(const std::string &text) { remarks += text + "\n"; }

void expectClose(const Tensor &got, const Tensor &expected, double tolerance = 1e-5) {
  ASSERT_EQ(got.shape(), expected.shape());
  std::vector<double> a = got.to_vector<double>(), b = expected.to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i]))) << "element " << i;
}

struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(3, 5)), fc2 = add("fc2", nn::Linear(5, 2));
  Buffer count = buffer("count", {}, init::zeros());
  Tensor forward(Tensor x) override { return fc2(relu(fc1(x))); }
};

/// The same values on the cpu and on the device.
struct Twins {
  Net here, there;
  Tensor x = tensor({{1, -2, 3}, {0.5, 1, -1}, {2, 0, 1}, {-1, 1, 1}}), y = tensor({0, 1, 1, 0}, i64);
  Twins() : there(nn::clone(here)) { there.to(sim); }
};

void expectEqualModels(const Net &a, const Net &b, double tolerance = 1e-5) {
  StateDict expected = a.state_dict(), state = b.state_dict();
  for (const auto &[name, tensor] : state) {
    SCOPED_TRACE(name);
    expectClose(tensor, expected.at(name), tolerance);
  }
}

} // namespace

TEST(Device, Names) {
  EXPECT_EQ(Device().str(), "cpu");
  EXPECT_EQ(Device("cpu:0"), Device("cpu"));
  EXPECT_EQ(Device("sim"), Device(sim));
  EXPECT_FALSE(Device("sim:1") == Device(sim));
  EXPECT_EQ(Device("sim:1").str(), "sim:1");
  EXPECT_EQ(device_count("cpu"), 1);
  EXPECT_GE(device_count("sim"), 2);
  EXPECT_TRUE(is_available("sim"));
  EXPECT_FALSE(is_available("abacus"));
  EXPECT_EQ(zeros({2}).device(), Device());
}

TEST(Device, CopiesKeepEveryType) {
  Tensor values = tensor({{1.5, -2}, {3, 4}});
  for (DType dtype : {f64, f32, i64, i32, i8, boolean}) {
    Tensor here = values.to(dtype), there = here.to(sim), back = there.to("cpu");
    EXPECT_EQ(there.device(), Device(sim));
    EXPECT_EQ(there.dtype(), dtype);
    EXPECT_EQ(back.device(), Device());
    EXPECT_EQ(back.to_vector<double>(), here.to_vector<double>());
    EXPECT_EQ(there.to_vector<double>(), here.to_vector<double>());
  }
  Tensor there = values.to(sim);
  EXPECT_TRUE(there.to(sim).shares_storage_with(there));
  EXPECT_EQ(there.to("sim:1").to_vector<float>(), values.to_vector<float>());
  EXPECT_EQ(values.to(sim, i32).to_vector<int32_t>(), (std::vector<int32_t>{1, -2, 3, 4}));
  EXPECT_EQ(zeros({0, 3}).to(sim).to("cpu").shape(), (Shape{0, 3}));
}

TEST(Device, ResultsAreWhereTheOperandsAre) {
  Tensor a = tensor({{1, 2}, {3, 4}}).to(sim), b = tensor({10, 20}).to(sim);
  Tensor c = a * 2 + b;
  EXPECT_EQ(c.device(), Device(sim));
  EXPECT_EQ(c.to_vector<float>(), (Floats{12, 24, 16, 28}));
  EXPECT_EQ(a.matmul(a).to_vector<float>(), (Floats{7, 10, 15, 22}));
  EXPECT_EQ(where(a > 2, a, 0).to_vector<float>(), (Floats{0, 0, 3, 4}));
  EXPECT_EQ(cat({a, a}, 1).device(), Device(sim));
  EXPECT_EQ(a.sum().item(), 10);
  Tensor rows = tensor({1, 0}, i64).to(sim);
  EXPECT_EQ(index_select(a, 0, rows).to_vector<float>(), (Floats{3, 4, 1, 2}));
  EXPECT_EQ(scatter(a, 0, zeros({1, 2}, {.dtype = i64, .device = sim}), 9).to_vector<float>(), (Floats{9, 9, 3, 4}));
  EXPECT_EQ(embedding(rows, a, 1).to_vector<float>(), (Floats{3, 4, 1, 2}));
  EXPECT_EQ(one_hot(rows, 2).to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 1, 0}));
  std::ostringstream text;
  text << a.sum(0);
  EXPECT_EQ(text.str(), "[4, 6] : f32 [2]");
}

TEST(Device, ScalarsOfTheCpuGoWithAnyTensor) {
  Tensor a = tensor({1, 2}).to(sim), two = tensor(2.0), three = tensor({1, 2}).sum();
  EXPECT_EQ((a * two).to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ((a * (two + 1)).to_vector<float>(), (Floats{3, 6}));
  EXPECT_EQ((a * three).to_vector<float>(), (Floats{3, 6})); // a pending value that only the cpu can compute
  EXPECT_EQ((two * a).device(), Device(sim));
  Scalar factor = 2.0;
  EXPECT_EQ((a * factor).to_vector<float>(), (Floats{2, 4}));
  int64_t before = dlc::testing::compile_count();
  factor.set(5);
  EXPECT_EQ((a * factor).to_vector<float>(), (Floats{5, 10}));
  EXPECT_EQ(dlc::testing::compile_count(), before);
  EXPECT_EQ(where(tensor(1.0) > 0, a, 0).to_vector<float>(), (Floats{1, 2}));
}

TEST(Device, MixingIsAnErrorThatNamesBoth) {
  Tensor here = zeros({2, 3}), there = zeros({3}).to(sim), other = zeros({3}).to("sim:1"), number = zeros({}).to(sim);
  EXPECT_ERROR(
      "add: tensors are on cpu (f32 [2, 3]) and on sim:0 (f32 [2, 3]); move the one on cpu with .to(\"sim:0\")",
      here + there);
  EXPECT_ERROR("mul: tensors are on sim:0 (f32 [3]) and on sim:1 (f32 [3]); move the one on sim:1 with .to(\"sim:0\")",
               there * other);
  EXPECT_ERROR("dot_general: tensors are on cpu (f32 [2, 3]) and on sim:0 (f32 [3]); move the one on cpu with "
               ".to(\"sim:0\")",
               matmul(here, there));
  EXPECT_THROW(here + number, Error); // as in PyTorch, only scalars of the cpu go along
  EXPECT_THROW(here += there, Error);
  EXPECT_ERROR(
      "data: the tensor is on sim:0, whose memory the host cannot read; copy it with .to(\"cpu\"), to_vector() "
      "or item()",
      there.data<float>());
}

TEST(Device, InPlace) {
  Tensor a = tensor({{1, 2}, {3, 4}}).to(sim);
  a += 1;
  EXPECT_EQ(a.to_vector<float>(), (Floats{2, 3, 4, 5}));
  a[0] = 7;
  EXPECT_EQ(a.to_vector<float>(), (Floats{7, 7, 4, 5}));
  a.copy_(tensor({1, 1})); // copies between devices, as PyTorch's does
  EXPECT_EQ(a.to_vector<float>(), (Floats{1, 1, 1, 1}));
  a.fill_(3);
  EXPECT_EQ(a.device(), Device(sim));
  a *= tensor(2.0);
  EXPECT_EQ(a.to_vector<float>(), (Floats{6, 6, 6, 6}));
  EXPECT_EQ(a.device(), Device(sim));
}

TEST(Device, Views) {
  Tensor host = arange(24, f32).reshape({6, 4}), a = host.to(sim);
  EXPECT_EQ(a[1].to_vector<float>(), (Floats{4, 5, 6, 7})); // not aligned for kernels
  EXPECT_EQ((a[1] * 1).to_vector<float>(), (Floats{4, 5, 6, 7}));
  EXPECT_EQ(a.t().to_vector<float>(), host.t().to_vector<float>());
  EXPECT_EQ(a.slice(1, 0, 4, 2).to_vector<float>(), host.slice(1, 0, 4, 2).to_vector<float>());
  EXPECT_EQ(a.slice(0, 4, 6).sum().item(), 16 + 17 + 18 + 19 + 20 + 21 + 22 + 23);
  EXPECT_EQ(host.t().to(sim).to_vector<float>(), host.t().to_vector<float>());
}

TEST(Device, Makers) {
  EXPECT_EQ(zeros({2}, {.device = sim}).device(), Device(sim));
  EXPECT_EQ(full({2}, 3, {.dtype = i32, .device = sim}).to_vector<int32_t>(), (std::vector<int32_t>{3, 3}));
  EXPECT_EQ(ones({2}, {.dtype = f64}).dtype(), f64);
  EXPECT_EQ(arange(1, 6, 2, {.device = sim}).to_vector<int64_t>(), (std::vector<int64_t>{1, 3, 5}));
  manual_seed(3);
  Tensor here = randn({5});
  manual_seed(3);
  EXPECT_EQ(randn({5}, {.device = sim}).to_vector<float>(), here.to_vector<float>());
  EXPECT_EQ(zeros_like(zeros({2}).to(sim)).device(), Device(sim));
  {
    DeviceScope scope(sim);
    EXPECT_EQ(tensor({1, 2}).device(), Device(sim));
    EXPECT_EQ(arange(3).device(), Device(sim));
    EXPECT_EQ(Net().fc1.weight.device(), Device(sim));
    EXPECT_EQ(zeros({2}, {.device = "cpu"}).device(), Device());
  }
  EXPECT_EQ(tensor({1, 2}).device(), Device());
}

TEST(Device, ModulesMoveInPlace) {
  manual_seed(1);
  Net model;
  Floats weight = model.fc1.weight.to_vector<float>();
  Parameter handle = model.fc1.weight;
  Tensor held = model.fc1.weight.clone();
  Net fresh; // never used before it moves
  fresh.to(sim);
  EXPECT_EQ(fresh.fc1.weight.device(), Device(sim));
  model.to(sim);
  EXPECT_EQ(handle.device(), Device(sim));
  EXPECT_TRUE(handle.shares_storage_with(model.fc1.weight));
  EXPECT_EQ(handle.to_vector<float>(), weight);
  EXPECT_EQ(model.count.device(), Device(sim));
  EXPECT_EQ(held.device(), Device());
  EXPECT_EQ(held.to_vector<float>(), weight);
  EXPECT_EQ(handle.name(), "fc1.weight");
  EXPECT_EQ(nn::clone(model).fc1.weight.device(), Device(sim));
  EXPECT_TRUE(handle.requires_grad());
  model.to("cpu");
  EXPECT_EQ(handle.to_vector<float>(), weight);
  auto moves = jit([&](Tensor x) { return model.to(sim), x; });
  EXPECT_THROW(moves(zeros({1})), Error);
}

TEST(Device, GradientsAreWhereTheParametersAre) {
  Twins twins;
  nn::cross_entropy(twins.here(twins.x), twins.y).backward();
  nn::cross_entropy(twins.there(twins.x.to(sim)), twins.y.to(sim)).backward();
  Tensor gradient = twins.there.fc1.weight.grad();
  EXPECT_EQ(gradient.device(), Device(sim));
  expectClose(gradient, twins.here.fc1.weight.grad());
  twins.there.to("cpu");
  EXPECT_EQ(twins.there.fc1.weight.grad().device(), Device());
  expectClose(twins.there.fc1.weight.grad(), twins.here.fc1.weight.grad());
  Tensor leaf = tensor(2.0);
  leaf.requires_grad_();
  (leaf * ones({3}, {.device = sim})).sum().backward();
  EXPECT_EQ(leaf.grad().device(), Device());
  EXPECT_EQ(leaf.grad().item(), 3);
}

TEST(Device, NoGradientComesBackThroughACopy) {
  Tensor leaf = ones({2}).requires_grad_();
  Tensor there = (leaf * 2).to(sim);
  EXPECT_EQ((there * 3).to_vector<float>(), (Floats{6, 6}));
  try {
    (there * 3).sum().backward();
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_NE(error.message().find("no gradient comes back through the copy to another device at DeviceTest.cpp:"),
              std::string::npos)
        << error.message();
  }
  Tensor own = ones({2}).to(sim).requires_grad_();
  (own * own).sum().backward();
  EXPECT_EQ(own.grad().to_vector<float>(), (Floats{2, 2}));
}

template <typename Optimizer, typename Options>
void trainBoth(Options options, bool jitted, bool before) {
  manual_seed(7);
  Twins twins;
  if (before)
    twins.there.to("cpu");
  Optimizer here(twins.here.parameters(), options), there(twins.there.parameters(), options);
  auto step = [](Net &model, optim::Optimizer &optimizer, Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::cross_entropy(model(x), y);
    loss.backward();
    optimizer.step();
    NoGrad off;
    model.count = model.count + 1;
    return loss.detach();
  };
  std::function<Tensor(Tensor, Tensor)> run = [&](Tensor x, Tensor y) { return step(twins.there, there, x, y); };
  if (jitted)
    run = jit([&](Tensor x, Tensor y) { return step(twins.there, there, x, y); });
  for (int i = 0; i < 6; ++i) {
    if (before && i == 2)
      twins.there.to(sim);
    Device device = twins.there.fc1.weight.device();
    Tensor loss = run(twins.x.to(device), twins.y.to(device));
    EXPECT_EQ(loss.device(), device);
    expectClose(loss, step(twins.here, here, twins.x, twins.y));
    if (i == 3) {
      here.set_lr(0.05);
      there.set_lr(0.05);
    }
  }
  expectEqualModels(twins.here, twins.there);
  StateDict expected = here.state_dict(), state = there.state_dict();
  EXPECT_EQ(state.size(), expected.size());
  for (const auto &[name, tensor] : state) {
    SCOPED_TRACE(name);
    expectClose(tensor, expected.at(name));
    if (tensor.dim() > 0) {
      EXPECT_EQ(tensor.device(), Device(sim));
    }
  }
}

TEST(Device, OptimizersTrainAsOnTheCpu) {
  trainBoth<optim::SGD>(optim::SGDOptions{.lr = 0.1, .momentum = 0.9}, false, false);
  trainBoth<optim::AdamW>(optim::AdamWOptions{.lr = 0.1}, false, false);
}
TEST(Device, JittedStepsTrainAsOnTheCpu) {
  trainBoth<optim::SGD>(optim::SGDOptions{.lr = 0.1, .momentum = 0.9}, true, false);
  trainBoth<optim::Adam>(optim::AdamOptions{.lr = 0.1}, true, false);
}
TEST(Device, ModelsMoveDuringTraining) {
  trainBoth<optim::AdamW>(optim::AdamWOptions{.lr = 0.1}, false, true);
  trainBoth<optim::AdamW>(optim::AdamWOptions{.lr = 0.1}, true, true);
}

TEST(Device, RunningStatisticsFollowTheirModule) {
  nn::BatchNorm2d here(3);
  nn::BatchNorm2d there = nn::clone(here);
  there.to(sim);
  auto step = jit([&](Tensor x) {
    Tensor y = there(x);
    (y * y * x).sum().backward();
    return y;
  });
  for (int i = 0; i < 3; ++i) {
    Tensor x = (arange(24, f32) * 0.25 - i).view({2, 3, 2, 2}), y = here(x);
    (y * y * x).sum().backward();
    expectClose(step(x.to(sim)), y);
  }
  there.eval();
  here.eval();
  Tensor x = ones({1, 3, 2, 2});
  expectClose(there(x.to(sim)), here(x));
  expectClose(there.weight.grad(), here.weight.grad(), 1e-4);
  for (const auto &[name, tensor] : there.state_dict()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(tensor.device(), Device(sim));
    expectClose(tensor, here.state_dict().at(name));
  }
  EXPECT_EQ(there.num_batches_tracked.item<int64_t>(), 3);
}

TEST(Device, JittedFunctionsRunWhereTheirArgumentsAre) {
  Tensor captured = tensor({1, 2}).to(sim);
  Scalar factor = 2.0;
  auto f = jit([&](Tensor x, Scalar shift) { return x * factor + captured + shift; });
  Tensor x = tensor({10, 20}).to(sim);
  EXPECT_EQ(f(x, 0.5).to_vector<float>(), (Floats{21.5, 42.5}));
  factor.set(3);
  EXPECT_EQ(f(x, 1.5).to_vector<float>(), (Floats{32.5, 63.5}));
  captured.fill_(0);
  EXPECT_EQ(f(x, 0).to_vector<float>(), (Floats{30, 60}));
  EXPECT_EQ(f(x, 0).device(), Device(sim));
  EXPECT_EQ(f.entries(), 1u);
  auto g = jit([](Tensor x) { return x * 2; });
  EXPECT_EQ(g(tensor({1, 2})).device(), Device());
  EXPECT_EQ(g(x).to_vector<float>(), (Floats{20, 40}));
  EXPECT_EQ(g.entries(), 2u);
}

TEST(Device, FunctionsOfTwoDevicesAreTracedAtEveryCall) {
  remarks.clear();
  set_remark_handler(collect);
  auto both = jit([](Tensor x, Tensor y) { return std::pair(x * 2, y * 3); });
  for (int i = 0; i < 2; ++i) {
    auto [a, b] = both(ones({2}), ones({2}, {.device = sim}));
    EXPECT_EQ(a.to_vector<float>(), (Floats{2, 2}));
    EXPECT_EQ(b.to_vector<float>(), (Floats{3, 3}));
    EXPECT_EQ(b.device(), Device(sim));
  }
  EXPECT_NE(remarks.find("jit: tensors of several devices are computed while recording"), std::string::npos) << remarks;
  remarks.clear();
  auto copies = jit([](Tensor x) { return x.to(sim) * 2; });
  for (int i = 1; i < 4; ++i)
    EXPECT_EQ(copies(full({2}, i)).to_vector<float>(), (Floats{2.f * float(i), 2.f * float(i)}));
  EXPECT_NE(remarks.find("jit: a copy to another device ends a program"), std::string::npos) << remarks;
  set_remark_handler(nullptr);
}

TEST(Device, CheckpointsGoAcrossDevices) {
  Twins twins;
  test::TemporaryFolder folder;
  std::string path = folder.file("device.safetensors");
  save(twins.there.state_dict(), path);
  Net loaded;
  loaded.load_state_dict(load(path));
  expectEqualModels(twins.there, loaded, 0);
  Net there;
  there.to(sim).load_state_dict(loaded.state_dict());
  EXPECT_EQ(there.fc1.weight.device(), Device(sim));
  expectEqualModels(loaded, there, 0);
}

TEST(Device, LoadersGiveBatchesWhereTheDataIs) {
  Tensor inputs = arange(10, f32).reshape({5, 2}), targets = arange(5);
  DataLoader here(TensorDataset(inputs, targets), {.batch_size = 2, .shuffle = true, .seed = 4});
  DataLoader there(TensorDataset(inputs.to(sim), targets.to(sim)), {.batch_size = 2, .shuffle = true, .seed = 4});
  std::vector<Floats> expected;
  for (auto [x, y] : here)
    expected.push_back(x.to_vector<float>());
  size_t i = 0;
  for (auto [x, y] : there) {
    EXPECT_EQ(x.device(), Device(sim));
    EXPECT_EQ(y.device(), Device(sim));
    EXPECT_EQ(x.to_vector<float>(), expected[i++]);
  }
  EXPECT_EQ(i, 3u);
}

// Batches come beside the steps, into memory that earlier ones had; the position counts what was given out alone.
TEST(Device, ALoaderOnADeviceTrainsAsOnTheCpu) {
  Twins twins;
  Tensor inputs = (arange(66, f32) / 10.0 - 3.0).reshape({22, 3}), targets = (arange(22) < 9).to(i64);
  DataLoaderOptions options{.batch_size = 4, .shuffle = true, .seed = 7};
  DataLoader here(TensorDataset(inputs, targets), options),
      there(TensorDataset(inputs.to(sim), targets.to(sim)), options);
  auto train = [](Net &net, DataLoader &loader, bool copies) {
    optim::SGD optimizer(net.parameters(), {.lr = 0.05});
    std::vector<Tensor> losses, kept;
    auto step = jit([&](const Tensor &x, const Tensor &y) {
      optimizer.zero_grad();
      Tensor loss = nn::cross_entropy(net(x), y);
      loss.backward();
      optimizer.step();
      return loss;
    });
    for (int epoch = 0; epoch < 3; ++epoch)
      for (auto [x, y] : loader) {
        losses.push_back(copies ? step(x.to(sim), y.to(sim)) : step(x, y));
        kept.push_back(x);
      }
    std::vector<double> all;
    for (const Tensor &loss : losses)
      all.push_back(loss.item<double>());
    for (const Tensor &x : kept)
      all.push_back(x.to(f64).sum().item<double>());
    return all;
  };
  Net copied = nn::clone(twins.here), brought = nn::clone(twins.here);
  copied.to(sim);
  brought.to(sim);
  DataLoaderOptions bring = options;
  bring.device = Device(sim);
  DataLoader bringing(TensorDataset(inputs, targets), bring);
  std::vector<double> expected = train(twins.here, here, false), ahead = train(twins.there, there, false);
  DataLoader again(TensorDataset(inputs, targets), options);
  std::vector<double> given = train(copied, again, true), third = train(brought, bringing, false);
  ASSERT_EQ(ahead.size(), 36u);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(ahead[i], expected[i], 1e-5) << i;
    EXPECT_NEAR(given[i], expected[i], 1e-5) << i;
    EXPECT_NEAR(third[i], expected[i], 1e-5) << i;
  }
  for (auto [x, y] : there) {
    EXPECT_EQ(there.state_dict().consumed, 4);
    break;
  }
}

TEST(Device, TooMuchMemoryIsAnError) {
  int64_t huge = int64_t(1) << 50; // more than there are addresses
  try {
    zeros({huge});
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.message(), "out of memory: a tensor needs 4503599627370496 bytes, more than cpu has");
  }
}

TEST(Device, AMoveThatFindsNoMemoryChangesNothing) {
  setenv("DLC_SIM_MEMORY", "20000", 1); // read when the device is opened, which no other test does
  Device small("sim:5");
  unsetenv("DLC_SIM_MEMORY");
  Net model;
  nn::Linear large(100, 100);
  {
    NoGrad off;
    model.fc1.weight.fill_(0.5);
    large.weight.fill_(2);
    large.bias.fill_(1);
  }
  Tensor x = ones({1, 100});
  large(x).sum().backward();
  EXPECT_THROW(large.to(small), Error);
  EXPECT_EQ(large.weight.device(), Device());
  EXPECT_EQ(large(x).sum().item<float>(), 20100);
  EXPECT_EQ(large.weight.grad().device(), Device());
  EXPECT_EQ(large.weight.grad().sum().item<float>(), 10000);
  model.to(small);
  EXPECT_EQ(model.fc1.weight.sum().item<float>(), 7.5F);
  large(x).sum().backward();
  EXPECT_EQ(large.weight.grad().sum().item<float>(), 20000);
}

TEST(Device, MemoryGoesUpAndDown) {
  const char *device = "sim:3"; // used by no other test
  EXPECT_EQ(memory_stats(device).allocated, 0);
  {
    Tensor large = zeros({1 << 18}, {.device = device});
    EXPECT_EQ(memory_stats(device).allocated, 1 << 20);
    EXPECT_GE(memory_stats(device).reserved, 1 << 20);
  }
  EXPECT_EQ(memory_stats(device).allocated, 0);
  EXPECT_EQ(memory_stats(device).peak, 1 << 20);
  release_unused();
  EXPECT_EQ(memory_stats(device).reserved, 0);
  {
    nn::Linear model(256, 256);
    model.to(device);
    EXPECT_GE(model(ones({1, 256}, {.device = device})).sum().item(), -1e9);
    EXPECT_GE(memory_stats(device).allocated, 256 * 256 * 4);
    model.to("cpu");
    EXPECT_LT(memory_stats(device).allocated, 256 * 4);
    model.to(device);
    EXPECT_GE(model(ones({1, 256}, {.device = device})).sum().item(), -1e9);
  }
  release_unused();
  EXPECT_EQ(memory_stats(device).allocated, 0);
  int64_t before = memory_stats().allocated;
  Tensor here = zeros({1000});
  EXPECT_EQ(memory_stats().allocated - before, 4000);
}
