#include "dlc/dlc.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace dlc;

namespace {

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
