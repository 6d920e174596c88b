// Trains ResNet-20 on handwritten digits, enlarged to its 32 x 32 pixels.
#include "Progress.h"
#include "ResNet20.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>

using namespace dlc;

namespace {

struct Options {
  std::string data = DIGITS_DATA, output;
  int64_t epochs = 10, batch = 32;
  uint64_t seed = 0;
  std::string amp = "off", device = "cpu";
  double rate = 0.05;
};

/// Each pixel of [N, 1, 8, 8] repeated: [N, 1, 32, 32].
TensorDataset enlarged(const TensorDataset &digits) {
  int64_t n = digits.size();
  Tensor pixels = digits.inputs().reshape({n, 1, 8, 1, 8, 1});
  return {(pixels * ones({1, 1, 1, 4, 1, 4})).reshape({n, 1, 32, 32}), digits.targets()};
}

void run(const Options &options) {
  DigitsData digits = load_digits(options.data);
  TensorDataset training = enlarged(digits.train), test = enlarged(digits.test);
  manual_seed(options.seed);
  Device device(options.device);
  ResNet20 model(1);
  model.to(device);
  optim::SGD optimizer(model.parameters(), {.lr = options.rate, .momentum = 0.9, .weight_decay = 1e-4});
  DType dtype = options.amp == "fp16" ? f16 : bf16;
  GradScaler scaler({.enabled = options.amp == "fp16"}); // bf16 has the range of f32
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss;
    {
      Autocast scope(dtype, options.amp != "off");
      loss = nn::cross_entropy(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
    return loss;
  });
  auto count = jit([&](Tensor x, Tensor y) {
    NoGrad off;
    return (model(x).argmax(1) == y).to(f32).sum();
  });

  DataLoader loader(training, {.batch_size = options.batch, .shuffle = true, .seed = options.seed, .device = device});
  Progress progress(options.epochs * loader.size(), options.epochs * training.size());
  double right = 0;
  for (int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    // Half a cosine from the full rate down to 0.
    optimizer.set_lr(options.rate * 0.5 * (1 + std::cos(M_PI * double(epoch - 1) / double(options.epochs))));
    double sum = 0;
    model.train();
    for (auto [x, y] : loader) {
      double loss = step(x, y).item();
      sum += loss * double(x.size(0));
      progress.update(loss, x.size(0));
    }
    model.eval(); // batch norm by its running statistics
    right = 0;
    for (auto [x, y] : DataLoader(test, {.batch_size = 64, .device = device}))
      right += count(x, y).item();
    progress.clear();
    std::printf("epoch %2lld of %lld  loss %.4f  test accuracy %.4f\n", (long long)epoch, (long long)options.epochs,
                sum / double(training.size()), right / double(test.size()));
    std::fflush(stdout);
  }
  if (!options.output.empty())
    save(model.state_dict(), options.output);
  std::printf("test accuracy %.4f in %.1f s\n", right / double(test.size()), progress.seconds());
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Trains ResNet-20 on handwritten digits of 32 x 32 pixels.");
  app.add_option("--data", options.data, "digits.csv.gz")->capture_default_str();
  app.add_option("--epochs", options.epochs)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--batch", options.batch, "images a step")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--lr", options.rate, "learning rate of SGD, falling along half a cosine")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--amp", options.amp, "16-bit type of products: bf16, fp16 or off")
      ->capture_default_str()
      ->check(CLI::IsMember({"bf16", "fp16", "off"}));
  app.add_option("--device", options.device, "cpu, or one that `dlc devices` lists")->capture_default_str();
  app.add_option("--seed", options.seed, "of weights and order")->capture_default_str();
  app.add_option("--output", options.output, "file for the trained weights (.safetensors)");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
