#include "Training.h"

#include "Progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

using namespace dlc;

namespace {
constexpr int64_t kBatch = 64;
constexpr double kLearningRate = 0.05;

/// Half a cosine from the full rate down to 0.
double rateOf(int epoch, int epochs) {
  return kLearningRate * 0.5 * (1 + std::cos(3.141592653589793 * epoch / epochs));
}
} // namespace

Training::Training(DigitsData digits, int epochs, Device device)
    : step(jit(
          [this](Tensor x, Tensor y) {
            optimizer.zero_grad();
            Tensor loss = nn::cross_entropy(model(x), y);
            loss.backward();
            optimizer.step();
            return loss;
          },
          {.name = "train_step", .inputs = {"images", "labels"}, .outputs = {"loss"}})),
      predict(jit(
          [this](Tensor x) {
            NoGrad off;
            return model(x).argmax(1);
          },
          {.name = "predict", .inputs = {"images"}, .outputs = {"classes"}})),
      data(std::move(digits)), epochs(epochs), device(device) {
  model.to(device);
}

void Training::run() {
  using Clock = std::chrono::steady_clock;
  DataLoader loader(data.train, {.batch_size = kBatch, .shuffle = true, .device = device});
  Progress progress(epochs * loader.size(), epochs * data.train.size());
  std::vector<double> times;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    optimizer.set_lr(rateOf(epoch - 1, epochs)); // compiles nothing
    double sum = 0;
    for (auto [x, y] : loader) {
      auto start = Clock::now();
      losses.push_back(step(x, y).item<float>());
      double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (losses.size() == 1)
        firstStepSeconds = seconds;
      else if (x.size(0) == kBatch)
        times.push_back(seconds);
      sum += losses.back() * double(x.size(0));
      progress.update(losses.back(), x.size(0));
    }
    EpochReport report{epoch, sum / double(data.train.size()), accuracy()};
    epochReports.push_back(report);
    progress.clear();
    std::printf("epoch %2d of %d  loss %.4f  test accuracy %.4f\n", epoch, epochs, report.loss, report.accuracy);
    std::fflush(stdout);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  medianStepSeconds = times[times.size() / 2];
  std::printf("%zu steps in %.1f s\n", losses.size(), progress.seconds());
}

std::vector<int64_t> Training::predictions() { return predict(data.test.inputs().to(device)).to_vector<int64_t>(); }

double Training::accuracy() {
  std::vector<int64_t> found = predictions(), truth = data.test.targets().to_vector<int64_t>();
  int64_t right = 0;
  for (size_t i = 0; i < truth.size(); ++i)
    right += found[i] == truth[i];
  return double(right) / double(truth.size());
}
