// PyTorch's usual loop for automatic mixed precision, with SimpleCNN on the handwritten digits.
#include "SimpleCNN.h"

#include <cstdio>
#include <string>

using namespace dlc;

namespace {

double accuracy(SimpleCNN &model, const TensorDataset &data) {
  NoGrad off;
  double right = 0;
  for (auto [x, y] : DataLoader(data, {.batch_size = 128}))
    right += (model(x).argmax(1) == y).to(f32).sum().item();
  return right / double(data.size());
}

void train(DType dtype, bool mixed, int64_t epochs) {
  DigitsData digits = load_digits(DIGITS_DATA);
  DataLoader loader(digits.train, {.batch_size = 64, .shuffle = true});
  SimpleCNN model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.05, .momentum = 0.9});
  GradScaler scaler({.enabled = mixed && dtype == f16}); // bf16 has the range of f32

  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss;
    {
      Autocast scope(dtype, mixed);
      loss = nn::cross_entropy(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer); // clipping needs true gradients
    nn::utils::clip_grad_norm_(model.parameters(), 5);
    scaler.step(optimizer); // leaves everything as it is if a gradient is not finite
    scaler.update();
    return loss;
  });

  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    double sum = 0;
    for (auto [x, y] : loader)
      sum += step(x, y).item() * double(x.size(0));
    std::printf("epoch %lld  loss %.6f  test accuracy %.4f  scale %g\n", (long long)epoch,
                sum / double(digits.train.size()), accuracy(model, digits.test), scaler.get_scale());
  }
}

} // namespace

int main(int argc, char **argv) {
  std::string kind = argc > 1 ? argv[1] : "fp16";
  int64_t epochs = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 5;
  if (argc > 3 || epochs < 1 || (kind != "fp16" && kind != "bf16" && kind != "f32")) {
    std::fprintf(stderr, "usage: amp [fp16|bf16|f32 [EPOCHS]]\n");
    return 2;
  }
  try {
    train(kind == "bf16" ? bf16 : f16, kind != "f32", epochs);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
