// gpu-check-models <folder> <targets> [<model>…]: training steps of the golden nets and of larger ones as artifacts,
// for tools/gpu-check. Beside each is what it is fed: x.<i> and y.<i>, and of a golden net what its losses must be.
//
// The first step is taken here, since an artifact is made of a function that was called; the rest is for the device.
#include "../../e2e/GoldenCurves.h"
#include "../Workloads.h"

#include "gpt/Gpt.h"
#include "resnet20/ResNet20.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>

using namespace dlc;
using namespace dlc::test;

namespace {

struct Folder {
  std::string path;
  std::vector<std::string> targets;
};

/// What PyTorch has as losses, and how far from them a run may be.
struct Expected {
  std::vector<double> losses, tolerances;
};

/// By the rules of test/golden.
Expected expected(const std::string &name, DType type) {
  StateDict file = golden(name);
  std::vector<double> single = file.at("loss_f32").to_vector<double>(), other = file.at("loss_f64").to_vector<double>();
  Expected made{single, {}};
  if (type == bf16) {
    made.losses = golden("autocast").at(name + ".bf16").to_vector<double>();
    other = made.losses;
  }
  double spread = 0;
  for (size_t i = 0; i < single.size(); ++i) {
    spread = std::max(spread, std::abs(single[i] - other[i]));
    made.tolerances.push_back(std::max(1e-5 * std::abs(made.losses[i]), 4 * spread));
  }
  return made;
}

template <typename Model, typename Optimizer, typename Loss>
void write(const Folder &folder, const std::string &name, Model &model, Optimizer &optimizer, Loss loss,
           const BatchList &batches, DType type, const Expected &expected = {}, size_t steps = 2) {
  auto step = jit(
      [&](Tensor x, Tensor y) {
        optimizer.zero_grad();
        Tensor value;
        {
          Autocast scope(type == f32 ? bf16 : type, type != f32);
          value = loss(model(x), y);
        }
        value.backward();
        optimizer.step();
        return value;
      },
      {.name = "step", .inputs = {"x", "y"}, .outputs = {"loss"}});
  double first = step(batches[0].first, batches[0].second).item();
  if (!expected.losses.empty() && std::abs(first - expected.losses[0]) > expected.tolerances[0])
    throw std::runtime_error(name + ": the first loss is not PyTorch's");
  save_artifact(folder.path + "/" + name + ".so", {{"step", step}}, {.targets = folder.targets});
  StateDict file;
  std::vector<double> losses, tolerances;
  for (size_t i = 1; i < std::min(steps, batches.size()); ++i) {
    file.add("x." + std::to_string(i - 1), batches[i].first);
    file.add("y." + std::to_string(i - 1), batches[i].second);
    if (expected.losses.empty())
      continue;
    losses.push_back(expected.losses[i]);
    tolerances.push_back(expected.tolerances[i]);
  }
  if (!losses.empty()) {
    file.add("losses", tensor(losses, {int64_t(losses.size())}));
    file.add("tolerances", tensor(tolerances, {int64_t(losses.size())}));
  }
  save(file, folder.path + "/" + name + ".safetensors");
}

std::string inType(const std::string &name, DType type) { return type == f32 ? name : name + ".bf16"; }

constexpr size_t kSteps = 20, kLargeSteps = 8;

void mlp(const Folder &folder, DType type) {
  StateDict file = golden("mlp");
  Mlp model(f32);
  loadInitial(model, file, f32);
  optim::SGD optimizer(model.parameters(), {.lr = 0.01});
  write(folder, inType("mlp", type), model, optimizer, meanSquares, vectors(file, f32), type, expected("mlp", type),
        kSteps);
}

void smallCnn(const Folder &folder) {
  StateDict file = golden("cnn_sgd");
  test::SimpleCNN model(f32);
  loadInitial(model, file, f32);
  optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.9});
  write(folder, "cnn_sgd", model, optimizer, crossEntropy, digits(file, f32), f32, expected("cnn_sgd", f32), kSteps);
}

void transformer(const Folder &folder, DType type) {
  StateDict file = golden("transformer");
  Transformer model(f32);
  loadInitial(model, file, f32);
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  write(folder, inType("transformer", type), model, optimizer, crossEntropy, text(file), type,
        expected("transformer", type), kSteps);
}

void resnet20(const Folder &folder) {
  StateDict file = golden("resnet20");
  ResNet20 model(1);
  loadHashed(model);
  optim::SGD optimizer(model.parameters(), {.lr = 0.002, .momentum = 0.9, .weight_decay = 1e-4});
  write(folder, "resnet20", model, optimizer, crossEntropy, largeDigits(file), f32, expected("resnet20", f32),
        kLargeSteps);
}

void gpt(const Folder &folder) {
  StateDict file = golden("gpt");
  Gpt model({.vocabulary = 65, .context = 64});
  loadHashed(model);
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  write(folder, "gpt", model, optimizer, crossEntropy, text(file, 64), f32, expected("gpt", f32), kLargeSteps);
}

/// The same batch twice: the first for the step here.
BatchList twice(const Tensor &x, const Tensor &y) { return {{x, y}, {x, y}}; }

// Of those below only the time counts. Plain SGD, for it has no state that would make the files large.

void benchCnn(const Folder &folder, DType type) {
  bench::SimpleCNN model(3, 32);
  optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.9});
  write(folder, inType("bench_cnn", type), model, optimizer, crossEntropy,
        twice(randn({64, 3, 32, 32}), bench::labels(64)), type);
}

void benchResNet(const Folder &folder, DType type) {
  ResNet20 model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.9});
  write(folder, inType("bench_resnet20", type), model, optimizer, crossEntropy,
        twice(randn({128, 3, 32, 32}), bench::labels(128)), type);
}

void benchGpt(const Folder &folder, DType type) {
  Gpt model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.01});
  Tensor tokens = bench::labels(int64_t(16) * 128).reshape({16, 128});
  write(folder, inType("bench_gpt", type), model, optimizer, crossEntropy, twice(tokens, tokens), type);
}

constexpr std::pair<const char *, void (*)(const Folder &)> kModels[] = {
    {"mlp", [](const Folder &folder) { mlp(folder, f32); }},
    {"mlp.bf16", [](const Folder &folder) { mlp(folder, bf16); }},
    {"cnn_sgd", smallCnn},
    {"transformer", [](const Folder &folder) { transformer(folder, f32); }},
    {"transformer.bf16", [](const Folder &folder) { transformer(folder, bf16); }},
    {"resnet20", resnet20},
    {"gpt", gpt},
    {"bench_cnn", [](const Folder &folder) { benchCnn(folder, f32); }},
    {"bench_cnn.bf16", [](const Folder &folder) { benchCnn(folder, bf16); }},
    {"bench_resnet20", [](const Folder &folder) { benchResNet(folder, f32); }},
    {"bench_resnet20.bf16", [](const Folder &folder) { benchResNet(folder, bf16); }},
    {"bench_gpt", [](const Folder &folder) { benchGpt(folder, f32); }},
    {"bench_gpt.bf16", [](const Folder &folder) { benchGpt(folder, bf16); }},
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: gpu-check-models FOLDER TARGET[,TARGET] [MODEL]...\n");
    return 2;
  }
  Folder folder{argv[1], {}};
  std::istringstream targets(argv[2]);
  for (std::string target; std::getline(targets, target, ',');)
    folder.targets.push_back(target);
  try {
    for (const auto &[name, make] : kModels)
      if (argc == 3 || std::find(argv + 3, argv + argc, std::string(name)) != argv + argc)
        make(folder);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
