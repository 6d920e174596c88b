// PyTorch's usual loop for automatic mixed precision, with SimpleCNN on the handwritten digits.
#include "SimpleCNN.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>

using namespace dlc;

namespace {

struct Options {
  std::string amp = "fp16", device = "cpu";
  int64_t epochs = 20;
  uint64_t seed = 0;
};

double accuracy(SimpleCNN &model, const TensorDataset &data, Device device) {
  NoGrad off;
  double right = 0;
  for (auto [x, y] : DataLoader(data, {.batch_size = 128, .device = device}))
    right += (model(x).argmax(1) == y).to(f32).sum().item();
  return right / double(data.size());
}

void run(const Options &options) {
  DigitsData digits = load_digits(DIGITS_DATA);
  Device device(options.device);
  DataLoader loader(digits.train, {.batch_size = 64, .shuffle = true, .seed = options.seed, .device = device});
  manual_seed(options.seed);
  SimpleCNN model;
  model.to(device);
  optim::SGD optimizer(model.parameters(), {.momentum = 0.9});
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
    scaler.unscale_(optimizer); // clipping needs true gradients
    nn::utils::clip_grad_norm_(model.parameters(), 5);
    scaler.step(optimizer); // leaves everything as it is if a gradient is not finite
    scaler.update();
    return loss;
  });

  for (int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    // Half a cosine from the full rate down to 0.
    optimizer.set_lr(0.05 * 0.5 * (1 + std::cos(M_PI * double(epoch - 1) / double(options.epochs))));
    double sum = 0;
    for (auto [x, y] : loader)
      sum += step(x, y).item() * double(x.size(0));
    std::printf("epoch %lld  loss %.6f  test accuracy %.4f  scale %g\n", (long long)epoch,
                sum / double(digits.train.size()), accuracy(model, digits.test, device), scaler.get_scale());
  }
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Trains a small convolutional net on handwritten digits in mixed precision.");
  app.add_option("--amp", options.amp, "16-bit type of products: bf16, fp16 or off")
      ->capture_default_str()
      ->check(CLI::IsMember({"bf16", "fp16", "off"}));
  app.add_option("--epochs", options.epochs)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--device", options.device, "cpu, or one that `dlc devices` lists")->capture_default_str();
  app.add_option("--seed", options.seed, "of weights and order")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
