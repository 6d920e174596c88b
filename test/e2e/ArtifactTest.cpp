#include "../unit/TestFile.h"
#include "dlc/dlc.h"
#include "dlc/runtime/Executable.h"
#include "dlc/runtime/Session.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <span>
#include <vector>

using namespace dlc;

namespace {

struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(10, 20)), fc2 = add("fc2", nn::Linear(20, 10));
  Tensor forward(Tensor x) override { return fc2(relu(fc1(x))); }
};

struct Training {
  Net model;
  optim::AdamW optimizer{model.parameters(), {.lr = 1e-2}};
  Jitted<Tensor(Tensor, Tensor)> step = jit(
      [this](Tensor x, Tensor y) {
        optimizer.zero_grad();
        Tensor loss = nn::mse_loss(model(x), y);
        loss.backward();
        optimizer.step();
        return loss;
      },
      {.name = "train_step", .inputs = {"x", "y"}, .outputs = {"loss"}});
  Jitted<Tensor(Tensor)> predict = jit([this](Tensor x) {
    NoGrad off;
    return model(x);
  });
};

/// Each test has a folder of its own: tests run side by side.
struct Artifact : ::testing::Test {
  test::TemporaryFolder folder;
  std::string path = folder.file("training.so");
};

DlcBuffer bufferOf(const Tensor &tensor) {
  return {const_cast<float *>(tensor.data<float>().data()), tensor.numel() * int64_t(sizeof(float))};
}

} // namespace

TEST_F(Artifact, RunsOnEveryTargetItIsFor) {
  Training training;
  Tensor x = randn({5, 10}), y = randn({5, 10});
  training.step(x, y);
  save_artifact(path, {{"train_step", training.step}}, {.targets = {"cpu", "sim"}});
  auto executable = Executable::load(path);
  ASSERT_TRUE(executable.ok()) << executable.status().message();
  std::map<std::string, std::vector<float>> losses;
  for (const DeviceId &device : {DeviceId{"cpu", 0}, DeviceId{"sim", 0}}) {
    auto session = Session::create({.device = device});
    ASSERT_TRUE(session.ok()) << session.status().message();
    auto program = (*session)->attach(*executable);
    ASSERT_TRUE(program.ok()) << program.status().message();
    for (int i = 0; i < 5; ++i) {
      float &loss = losses[device.kind].emplace_back();
      DlcBuffer arguments[] = {bufferOf(x), bufferOf(y)}, results[] = {{&loss, sizeof loss}};
      Status status = (*program)->call(0, arguments, results);
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }
  // Sums of at most 50 terms near 1, in another order; five steps of AdamW move weights by 1e-2 each.
  for (int i = 0; i < 5; ++i)
    EXPECT_NEAR(losses["cpu"][i], losses["sim"][i], 1e-5 * losses["cpu"][i]) << i;
  EXPECT_LT(losses["sim"].back(), losses["sim"].front());
  EXPECT_THROW(save_artifact(path, {{"train_step", training.step}}, {.targets = {"gpu"}}), Error);
}

TEST_F(Artifact, ContinuesWithTheSameBits) {
  Training training;
  Tensor x = randn({5, 10}), y = randn({5, 10});
  for (int i = 0; i < 3; ++i)
    training.step(x, y);
  training.predict(x);
  save_artifact(path, {{"train_step", training.step}, {"predict", training.predict}});

  auto executable = Executable::load(path);
  ASSERT_TRUE(executable.ok()) << executable.status().message();
  for (int threads : {1, 2, 3}) {
    auto session = Session::create({.threads = threads});
    ASSERT_TRUE(session.ok());
    auto program = (*session)->attach(*executable);
    ASSERT_TRUE(program.ok()) << program.status().message();
    size_t step = *(*executable)->findEntry("train_step");
    EXPECT_EQ((*executable)->manifest().entries[step].arguments[1].name, "y");
    EXPECT_EQ((*executable)->manifest().entries[step].results[0].name, "loss");

    StateDict before;
    for (const auto &[name, tensor] : training.model.state_dict())
      before.add(name, tensor.clone());
    StateDict optimizerBefore;
    for (const auto &[name, tensor] : training.optimizer.state_dict())
      optimizerBefore.add(name, tensor.clone());
    for (int i = 0; i < 3; ++i) {
      float loss = 0;
      DlcBuffer arguments[] = {bufferOf(x), bufferOf(y)}, results[] = {{&loss, sizeof loss}};
      Status status = (*program)->call(step, arguments, results);
      ASSERT_TRUE(status.ok()) << status.message();
      float expected = training.step(x, y).item<float>();
      EXPECT_EQ(std::bit_cast<uint32_t>(loss), std::bit_cast<uint32_t>(expected)) << loss << " " << expected;
    }
    for (const auto &[name, tensor] : training.model.state_dict()) {
      const Session::Variable *variable = (*session)->find(name);
      ASSERT_NE(variable, nullptr) << name;
      EXPECT_EQ(std::memcmp(variable->data, tensor.data<float>().data(), size_t(tensor.numel()) * sizeof(float)), 0);
    }
    EXPECT_NE((*session)->find("opt.exp_avg.fc1.weight"), nullptr);
    EXPECT_NE((*session)->find("opt.step"), nullptr);
    training.model.load_state_dict(before);
    training.optimizer.load_state_dict(optimizerBefore);
  }
}

TEST_F(Artifact, KeepsRunningStatistics) {
  manual_seed(2);
  nn::BatchNorm1d norm(10);
  auto step = jit([&](Tensor x) { return norm(x); });
  Tensor x = randn({5, 10});
  step(x);
  save_artifact(path, {{"step", step}}, {.targets = {"cpu", "sim"}});
  auto executable = Executable::load(path);
  ASSERT_TRUE(executable.ok()) << executable.status().message();
  step(x);
  for (const DeviceId &device : {DeviceId{"cpu", 0}, DeviceId{"sim", 0}}) {
    auto session = Session::create({.device = device});
    ASSERT_TRUE(session.ok()) << session.status().message();
    auto program = (*session)->attach(*executable);
    ASSERT_TRUE(program.ok()) << program.status().message();
    std::vector<float> y(50), mean(10), var(10);
    int64_t batches = 0;
    DlcBuffer arguments[] = {bufferOf(x)}, results[] = {{y.data(), 200}};
    Status status = (*program)->call(0, arguments, results);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE((*session)->read("running_mean", std::as_writable_bytes(std::span(mean))).ok());
    ASSERT_TRUE((*session)->read("running_var", std::as_writable_bytes(std::span(var))).ok());
    ASSERT_TRUE((*session)->read("num_batches_tracked", std::as_writable_bytes(std::span(&batches, 1))).ok());
    EXPECT_EQ(batches, 2);
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_NEAR(mean[i], norm.running_mean.to_vector<float>()[i], 1e-6);
      EXPECT_NEAR(var[i], norm.running_var.to_vector<float>()[i], 1e-6);
    }
  }
}

TEST_F(Artifact, FreshStateStartsFromTheFormulas) {
  manual_seed(0);
  Training training;
  Tensor x = randn({5, 10}), y = randn({5, 10});
  Tensor loss = training.step(x, y);
  manual_seed(0);
  Training fresh;
  auto record = fresh.predict; // not called: the weights are as they were made
  record(x);
  save_artifact(path, {{"predict", fresh.predict}});
  auto executable = Executable::load(path);
  ASSERT_TRUE(executable.ok()) << executable.status().message();
  for (const VariableInfo &variable : (*executable)->manifest().variables)
    EXPECT_EQ(variable.init.kind, InitialValue::Kind::Uniform) << variable.name;
  auto session = Session::create();
  auto program = (*session)->attach(*executable);
  ASSERT_TRUE(program.ok()) << program.status().message();
  std::vector<float> output(50);
  DlcBuffer arguments[] = {bufferOf(x)}, results[] = {{output.data(), 200}};
  ASSERT_TRUE((*program)->call(0, arguments, results).ok());
  EXPECT_EQ(output, fresh.predict(x).to_vector<float>());
}

TEST_F(Artifact, RefusesWhatHasNoCompiledForm) {
  Training training;
  EXPECT_THROW(save_artifact(path, {{"predict", training.predict}}), Error) << "never called";
  set_remark_handler(nullptr);
  auto retraced = jit([](Tensor x) { return x * x.sum().item(); });
  retraced(ones({2}));
  EXPECT_THROW(save_artifact(path, {{"f", retraced}}), Error);
  Net a, b;
  auto both = jit([&](Tensor x) { return a(x) + b(x); });
  both(ones({1, 10}));
  try {
    save_artifact(path, {{"both", both}});
    FAIL() << "no error";
  } catch (const Error &error) {
    EXPECT_NE(error.message().find("two variables are named fc1.weight (ArtifactTest.cpp:"), std::string::npos)
        << error.what();
  }
  b.set_name("other");
  save_artifact(path, {{"both", both}});
}
