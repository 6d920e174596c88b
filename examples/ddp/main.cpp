// PyTorch's usual script for DistributedDataParallel, with SimpleCNN on the handwritten digits.
#include "SimpleCNN.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace dlc;

namespace {

int64_t ranks = 2, epochs = 3;

double accuracy(SimpleCNN &model, const TensorDataset &data, Device device) {
  NoGrad off;
  double right = 0;
  for (auto [x, y] : DataLoader(data, {.batch_size = 128, .device = device}))
    right += (model(x).argmax(1) == y).to(f32).sum().item(); // of all ranks: everyone counts the whole batch
  return right / double(data.size());
}

void train() {
  distributed::init();
  int64_t rank = distributed::rank();
  Device device = distributed::device(); // with --devices=cuda:1 this rank's GPU

  DigitsData digits = load_digits(DIGITS_DATA);
  DataLoader loader(digits.train, {.batch_size = 64, .shuffle = true, .device = device}); // 64 on all ranks together
  SimpleCNN model;
  model.to(device);
  auto ddp = distributed::DataParallel(model);
  optim::SGD optimizer(ddp.parameters(), {.lr = 0.05, .momentum = 0.9});

  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::cross_entropy(ddp(x), y);
    loss.backward(); // gradients are averaged where the optimizer needs them
    optimizer.step();
    return loss;
  });

  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    double sum = 0;
    for (auto [x, y] : loader)
      sum += step(x, y).item() * double(x.size(0));
    double right = accuracy(model, digits.test, device);
    if (rank == 0)
      std::printf("epoch %lld  loss %.6f  test accuracy %.4f\n", (long long)epoch, sum / double(digits.train.size()),
                  right);
  }

  if (rank == 0)
    save(model.state_dict(), "ddp.safetensors");
  distributed::shutdown();
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1)
    ranks = std::strtoll(argv[1], nullptr, 10);
  if (argc > 2)
    epochs = std::strtoll(argv[2], nullptr, 10);
  try {
    if (distributed::is_launched()) // by `dlc launch -n 2 ddp`, mpirun, srun, …
      train();
    else
      distributed::spawn([](int64_t) { train(); }, ranks);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
