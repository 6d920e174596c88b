#include "dlc/dlc.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

using namespace dlc;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool measuresMemory = false; // freed memory is kept by the sanitizer
#else
constexpr bool measuresMemory = true;
#endif

int64_t anonymousKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:"))
      return std::stoll(line.substr(8));
  return 0;
}

struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(10, 20)), fc2 = add("fc2", nn::Linear(20, 10));
  Tensor forward(Tensor x) override { return fc2(relu(fc1(x))); }
};

} // namespace

TEST(Training, TenThousandStepsStayFlat) {
  Net model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.01});
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  Tensor x = randn({20, 10}), y = randn({20, 10});
  int64_t before = 0;
  for (int i = 0; i < 10'000; ++i) {
    step(x, y);
    if (i == 100)
      before = anonymousKilobytes();
  }
  if (measuresMemory)
    EXPECT_LE(anonymousKilobytes() - before, 1024);
}

TEST(Training, UX_03_SummingTheLossStaysFlat) {
  Net model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.01});
  Tensor x = randn({20, 10}), y = randn({20, 10}), total = zeros({});
  int64_t before = 0, nodes = 0;
  for (int i = 0; i < 2000; ++i) {
    optimizer.zero_grad();
    Tensor loss = nn::mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    total += loss;
    if (i == 100) {
      before = anonymousKilobytes();
      nodes = dlc::testing::live_nodes();
    }
  }
  EXPECT_EQ(dlc::testing::live_nodes(), nodes);
  if (measuresMemory)
    EXPECT_LE(anonymousKilobytes() - before, 1024);
  EXPECT_GT(total.item(), 0);
}

TEST(Training, EvaluationBetweenStepsDoesNotMoveState) {
  Net model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  auto predict = jit([&](Tensor x) {
    NoGrad off;
    return model(x);
  });
  Tensor x = randn({4, 10}), y = randn({4, 10});
  Tensor first = predict(x);
  std::vector<float> before = first.to_vector<float>();
  const float *weight = model.fc1.weight.data<float>().data();
  float loss = step(x, y).item<float>();
  EXPECT_NEAR(nn::mse_loss(first, y).item<float>(), loss, 1e-6f * std::abs(loss)) << "the same forward pass";
  EXPECT_EQ(model.fc1.weight.data<float>().data(), weight);
  EXPECT_EQ(first.to_vector<float>(), before);
  EXPECT_NE(predict(x).to_vector<float>(), before);
}

TEST(Training, PrintingAtEveryLineChangesNoBit) {
  auto run = [](bool demanding) {
    manual_seed(7);
    Net model;
    optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
    Tensor x = randn({20, 10}), y = randn({20, 10});
    auto look = [&](const Tensor &tensor) {
      if (demanding)
        tensor.to_vector<float>();
      return tensor;
    };
    std::vector<float> losses;
    losses.reserve(5);
    std::vector<Tensor> held;
    held.reserve(5);
    for (int i = 0; i < 5; ++i) {
      optimizer.zero_grad();
      Tensor hidden = look(relu(look(model.fc1(x))));
      Tensor loss = look(nn::mse_loss(look(model.fc2(hidden)), y));
      loss.backward();
      look(model.fc1.weight.grad());
      optimizer.step();
      look(model.fc2.bias);
      held.push_back(loss);
    }
    for (const Tensor &loss : held)
      losses.push_back(loss.item<float>());
    std::vector<float> weights = model.fc1.weight.to_vector<float>();
    losses.insert(losses.end(), weights.begin(), weights.end());
    return losses;
  };
  set_remark_handler(nullptr);
  EXPECT_EQ(run(false), run(true));
}

TEST(Training, ThrowingAnywhereInAFunctionLeavesStateAsItWas) {
  Net model;
  optim::AdamW optimizer(model.parameters(), {.lr = 0.1});
  Tensor x = randn({20, 10}), y = randn({20, 10}), total = zeros({});
  auto snapshot = [&] {
    std::vector<float> all{total.item<float>()};
    for (const StateDict &state : {model.state_dict(), optimizer.state_dict()})
      for (const auto &[name, tensor] : state)
        for (float value : tensor.to_vector<float>())
          all.push_back(value);
    return all;
  };
  std::vector<float> before = snapshot();
  int at = 0;
  auto step = jit([&](Tensor x, Tensor y) {
    auto maybe = [&](int place) {
      if (place == at)
        throw place;
    };
    maybe(0);
    optimizer.zero_grad();
    Tensor loss = nn::mse_loss(model(x), y);
    maybe(1);
    loss.backward();
    maybe(2);
    total += loss;
    maybe(3);
    optimizer.step();
    maybe(4);
    return loss;
  });
  for (at = 0; at < 5; ++at) {
    EXPECT_THROW(step(x, y), int);
    EXPECT_EQ(snapshot(), before) << at;
    EXPECT_FALSE(model.fc1.weight.grad().defined()) << at;
  }
  float loss = step(x, y).item<float>();
  EXPECT_EQ(total.item<float>(), loss);
}

TEST(Training, SeveralThreadsCallOneFunction) {
  Net model;
  auto predict = jit([&](Tensor x) {
    NoGrad off;
    return model(x);
  });
  std::vector<Tensor> inputs;
  std::vector<std::vector<float>> expected;
  for (int i = 0; i < 4; ++i) {
    inputs.push_back(randn({3, 10}));
    expected.push_back(predict(inputs.back()).to_vector<float>());
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 200; ++k)
        wrong += predict(inputs[i]).to_vector<float>() != expected[i];
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}
