// dlc-bench <workload> [<seconds>]: runs a workload and prints one JSON object; times in seconds, memory in bytes.
#include "Memory.h"
#include "Program.h"
#include "Timing.h"
#include "Workloads.h"

#include "gpt/Gpt.h"

#include <cstdio>
#include <functional>

using namespace dlc;
using namespace dlc::bench;

namespace {

/// Steps for a while, the first of them cold; `step` must wait for its result.
void printTimes(double seconds, const std::function<void()> &step) {
  std::printf("%s", timeSteps(seconds, step, [](bool go) { return go; }).json().c_str());
}

void cnn(double seconds) {
  SimpleCNN model(3, 32);
  optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.9});
  Tensor x = randn({64, 3, 32, 32}), y = labels(64);
  dlc::sync();
  Memory before = Memory::now();
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::cross_entropy(model(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  printTimes(seconds, [&] { step(x, y).item<float>(); });
  Memory after = Memory::now();
  std::printf(", \"planned_peak\": %lld, \"anonymous\": %lld, \"anonymous_before\": %lld, \"file\": %lld, "
              "\"peak_resident\": %lld",
              (long long)step.report().peak_bytes, (long long)after.anonymous, (long long)before.anonymous,
              (long long)after.file, (long long)after.peakResident);
}

struct SmallStep {
  SmallNet model;
  optim::SGD optimizer{model.parameters(), {.lr = 0.01}};
  Tensor x = randn({20, 10}), y = randn({20, 10});
  Jitted<Tensor(Tensor, Tensor)> step = jit([this](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
};

void smallNet(double seconds) {
  SmallStep net;
  dlc::sync();
  printTimes(seconds, [&] { net.step(net.x, net.y).item<float>(); });
}

/// Anonymous memory gained from step 100 to step 10,000.
void growth(double) {
  SmallStep net;
  auto steps = [&](int count) {
    for (int i = 0; i < count; ++i)
      net.step(net.x, net.y).item<float>();
    return Memory::now().anonymous;
  };
  int64_t early = steps(100), late = steps(9'900);
  std::printf("\"gained\": %lld", (long long)(late - early));
}

/// Bytes of intermediate values at the peak of a step of training examples/gpt on 16 pieces of 128 characters.
int64_t activationBytes(DType dtype) {
  Gpt model;
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  GradScaler scaler({.enabled = dtype == f16});
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss;
    {
      Autocast scope(dtype == f32 ? bf16 : dtype, dtype != f32);
      loss = nn::cross_entropy(model(x).flatten(0, 1), y.flatten());
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
    return loss;
  });
  Tensor text = zeros({16, 128}, i64);
  step(text, text).item<float>();
  return step.report().activation_bytes;
}

void gptActivations(double) {
  std::printf("\"f32\": %lld, \"bf16\": %lld, \"f16\": %lld", (long long)activationBytes(f32),
              (long long)activationBytes(bf16), (long long)activationBytes(f16));
}

} // namespace

int main(int argc, char **argv) {
  return runProgram<void>(
      argc, argv, "dlc-bench",
      {{"cnn", cnn}, {"small_net", smallNet}, {"growth", growth}, {"gpt_activations", gptActivations}},
      [](auto workload, double seconds) {
        std::printf("{\"name\": \"dlc\", ");
        workload(seconds);
        std::printf("}\n");
      });
}
