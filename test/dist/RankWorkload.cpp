// One rank that trains nets of the golden curves over epochs whose last batch is short:
//   rank_workload <folder> <steps> [--stop <step>] <net>:<micro-batches> …
// Rank 0 writes losses and the last state to <folder>/<net>-<micro-batches>-<first step>.safetensors. With --stop it
// ends at that step with a checkpoint, which the next job with this folder goes on from, on any number of ranks.
#include "../e2e/GoldenCurves.h"

#include <exception>
#include <iostream>
#include <map>

using namespace dlc;
using namespace dlc::test;

namespace {

struct Workload {
  std::string folder;
  int64_t steps = 0, stop = 0;
  std::string net;
  int64_t micro = 1;
};

/// Trains to the end, or to where it stops, from the checkpoint if there is one.
template <typename Model, typename Optimizer, typename Loss>
void train(Model &model, Optimizer &optimizer, Loss loss, const DataLoader &loader, const Workload &given) {
  std::string name = given.folder + "/" + given.net + "-" + std::to_string(given.micro);
  auto lossOf = [&](const Tensor &x, const Tensor &y) { return loss(model(x), y); };
  auto step = jit([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor value = given.micro > 1 ? accumulate(given.micro, lossOf, x, y) : lossOf(x, y);
    if (given.micro == 1)
      value.backward();
    optimizer.step();
    return value;
  });
  distributed::DataParallel(model);
  Device device = distributed::device();
  int64_t first = resume(name, {model, optimizer, loader}).step, end = given.stop ? given.stop : given.steps;
  std::vector<double> losses;
  for (int64_t now = first; now < end;)
    for (auto [x, y] : loader) {
      losses.push_back(step(x.to(device), y.to(device)).item());
      if (++now == end)
        break;
    }
  if (given.stop)
    save_checkpoint(name, end, {model, optimizer, loader});
  if (distributed::rank() != 0)
    return;
  StateDict all = model.state_dict();
  all.merge(optimizer.state_dict());
  all.add("losses", tensor(losses, {std::ssize(losses)}));
  save(all, name + "-" + std::to_string(first) + ".safetensors");
}

// Data sets and batch sizes are export.py's EPOCHS in test/golden.

DataLoader loaderOf(const Tensor &x, const Tensor &y, int64_t count, int64_t size) {
  TensorDataset first(x.slice(0, 0, count).contiguous(), y.slice(0, 0, count).contiguous());
  return {first, {.batch_size = size, .shuffle = true, .seed = 3}};
}

void mlp(const Workload &given) {
  StateDict file = golden("mlp");
  Mlp model(f32);
  loadInitial(model, file, f32);
  model.to(distributed::device());
  optim::SGD optimizer(model.parameters(), {.lr = 0.01});
  DataLoader loader = loaderOf(file.at("inputs").flatten(0, 1), file.at("targets").flatten(0, 1), 110, 16);
  train(model, optimizer, meanSquares, loader, given);
}

void cnn(const Workload &given) {
  SimpleCNN model(f32);
  loadInitial(model, golden("cnn_adamw"), f32);
  model.to(distributed::device());
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  TensorDataset all = allDigits(f32);
  train(model, optimizer, crossEntropy, loaderOf(all.inputs(), all.targets(), 146, 32), given);
}

void transformer(const Workload &given) {
  StateDict file = golden("transformer");
  Transformer model(f32);
  loadInitial(model, file, f32);
  model.to(distributed::device());
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  std::vector<Tensor> inputs, targets;
  for (const auto &[x, y] : text(file)) {
    inputs.push_back(x);
    targets.push_back(y);
  }
  train(model, optimizer, crossEntropy, loaderOf(cat(inputs), cat(targets), 43, 8), given);
}

int run(const std::vector<std::string> &words) {
  const std::map<std::string, void (*)(const Workload &)> nets = {
      {"mlp", mlp}, {"cnn", cnn}, {"transformer", transformer}};
  Workload given;
  given.folder = words.at(0);
  given.steps = std::stoll(words.at(1));
  distributed::init();
  for (size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "--stop") {
      given.stop = std::stoll(words.at(++i));
      continue;
    }
    size_t colon = words[i].find(':');
    given.net = words[i].substr(0, colon);
    given.micro = std::stoll(words[i].substr(colon + 1));
    nets.at(given.net)(given);
  }
  distributed::shutdown();
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
