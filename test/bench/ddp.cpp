// dlc-bench-ddp <workload> [<seconds>]: one rank of a data-parallel workload, as a launcher starts it; rank 0 prints
// one JSON object. Rows are those of a rank; times in seconds.
#include "Program.h"
#include "Timing.h"
#include "Workloads.h"

#include <cstdio>
#include <string>

using namespace dlc;
using namespace dlc::bench;

namespace {

/// 784-512-512-10 with ReLU.
struct Mlp : nn::Module {
  Tensor forward(Tensor x) override { return fc3(relu(fc2(relu(fc1(x))))); }

  nn::Linear fc1 = add("fc1", nn::Linear(784, 512));
  nn::Linear fc2 = add("fc2", nn::Linear(512, 512));
  nn::Linear fc3 = add("fc3", nn::Linear(512, 10));
};

/// Eight layers of 512 x 512 and ReLU.
struct DeepMlp : nn::Module {
  DeepMlp() {
    for (int i = 0; i < 8; ++i)
      layers.push_back(add("fc" + std::to_string(i + 1), nn::Linear(512, 512)));
  }
  Tensor forward(Tensor x) override {
    for (nn::Linear &layer : layers)
      x = relu(layer(x));
    return x;
  }

  std::vector<nn::Linear> layers;
};

/// Trains with Adam on one batch; rank 0 says when to stop, between the measured steps.
Times train(nn::Module &model, const Tensor &x, const Tensor &y, double seconds) {
  distributed::DataParallel(model);
  optim::Adam optimizer(model.parameters(), {.lr = 1e-3});
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::cross_entropy(model(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  Tensor inputs = distributed::shard(x), targets = distributed::shard(y);
  return timeSteps(
      seconds, [&] { step(inputs, targets).item<float>(); },
      [](bool go) {
        Tensor flag = full({1}, distributed::rank() == 0 ? float(go) : 0);
        distributed::broadcast(flag);
        return flag.item<float>() != 0;
      });
}

Times mlp(double seconds) {
  Mlp model;
  int64_t rows = 128 * distributed::num_members();
  return train(model, randn({rows, 784}), labels(rows), seconds);
}

Times deepMlp(double seconds) {
  DeepMlp model;
  int64_t rows = 128 * distributed::num_members();
  return train(model, randn({rows, 512}), labels(rows), seconds);
}

Times cnn(double seconds) {
  SimpleCNN model(3, 32);
  int64_t rows = 64 * distributed::num_members();
  return train(model, randn({rows, 3, 32, 32}), labels(rows), seconds);
}

} // namespace

int main(int argc, char **argv) {
  return runProgram<Times>(argc, argv, "dlc-bench-ddp", {{"mlp", mlp}, {"deep_mlp", deepMlp}, {"cnn", cnn}},
                           [](auto workload, double seconds) {
                             distributed::init();
                             Times times = workload(seconds);
                             if (distributed::rank() == 0)
                               std::printf("{\"name\": \"dlc\", %s}\n", times.json().c_str());
                             distributed::shutdown();
                           });
}
