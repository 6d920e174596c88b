#include "dlc/dlc.h"
#include "dlc/runtime/Digits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

using namespace dlc;

// The curves of test/golden: PyTorch's losses from the same weights and batches.
namespace {

struct Mlp : nn::Module {
  explicit Mlp(DType dtype) : dtype(dtype) {}
  DType dtype;
  nn::Linear fc1 = add("fc1", nn::Linear(10, 20, {.dtype = dtype})),
             fc2 = add("fc2", nn::Linear(20, 10, {.dtype = dtype}));
  Tensor forward(Tensor x) override { return fc2(relu(fc1(x))); }
};

struct SimpleCNN : nn::Module {
  explicit SimpleCNN(DType dtype) : dtype(dtype) {}
  DType dtype;
  nn::Conv2d conv1 = add("conv1", nn::Conv2d(1, 32, 3, {.padding = 1, .dtype = dtype}));
  nn::Conv2d conv2 = add("conv2", nn::Conv2d(32, 64, 3, {.padding = 1, .dtype = dtype}));
  nn::MaxPool2d pool = add("pool", nn::MaxPool2d(2));
  nn::Linear fc = add("fc", nn::Linear(256, 10, {.dtype = dtype}));
  Tensor forward(Tensor x) override {
    x = pool(relu(conv1(x)));
    x = pool(relu(conv2(x)));
    return fc(x.flatten(1));
  }
};

StateDict golden(const std::string &name) {
  return load(std::string(DLC_TEST_FOLDER) + "/golden/" + name + ".safetensors");
}

void loadInitial(nn::Module &model, const StateDict &file, DType dtype) {
  StateDict state;
  for (const auto &[name, tensor] : file)
    if (name.starts_with("initial."))
      state.add(name.substr(8), tensor.to(dtype));
  model.load_state_dict(state);
}

/// f64: within 1e-9 of PyTorch's f64. f32: within max(1e-5 relative, 4 g), g the largest difference so far between
/// PyTorch's own f32 and f64.
void expectGolden(const std::vector<double> &losses, const StateDict &file, DType dtype) {
  std::vector<double> single = file.at("loss_f32").to_vector<double>(), exact = file.at("loss_f64").to_vector<double>();
  ASSERT_EQ(losses.size(), exact.size());
  double spread = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    spread = std::max(spread, std::abs(single[i] - exact[i]));
    if (dtype == f64)
      EXPECT_NEAR(losses[i], exact[i], 1e-9) << "step " << i;
    else
      EXPECT_NEAR(losses[i], single[i], std::max(1e-5 * std::abs(single[i]), 4 * spread)) << "step " << i;
  }
}

template <typename Model, typename Optimizer, typename Loss>
std::vector<double> train(Model &model, Optimizer &optimizer, Loss loss,
                          const std::vector<std::pair<Tensor, Tensor>> &batches, bool jitted) {
  auto body = [&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor value = loss(model(x), y);
    value.backward();
    optimizer.step();
    return value;
  };
  auto step = jit(body);
  std::vector<double> losses;
  losses.reserve(batches.size());
  for (const auto &[x, y] : batches)
    losses.push_back((jitted ? step(x, y) : body(x, y)).item());
  return losses;
}

/// Batches by sample number, from all digits.
std::vector<std::pair<Tensor, Tensor>> digits(const StateDict &file, DType dtype) {
  auto read = readDigits(std::string(DLC_TEST_FOLDER) + "/../examples/digits/data/digits.csv.gz");
  EXPECT_TRUE(read.ok()) << read.status().message();
  int64_t size = read->size();
  TensorDataset all(tensor(read->images, {size, 1, 8, 8}).to(dtype), tensor(read->labels, {size}));
  std::vector<std::pair<Tensor, Tensor>> batches;
  Tensor indices = file.at("indices");
  batches.reserve(size_t(indices.size(0)));
  for (int64_t i = 0; i < indices.size(0); ++i)
    batches.push_back(all.gather(indices[i].to_vector<int64_t>()));
  return batches;
}

std::vector<double> runMlp(DType dtype, bool jitted) {
  StateDict file = golden("mlp");
  Mlp model(dtype);
  loadInitial(model, file, dtype);
  optim::SGD optimizer(model.parameters(), {.lr = 0.01});
  std::vector<std::pair<Tensor, Tensor>> batches;
  for (int64_t i = 0; i < file.at("inputs").size(0); ++i)
    batches.emplace_back(file.at("inputs")[i].to(dtype), file.at("targets")[i].to(dtype));
  auto loss = [](const Tensor &output, const Tensor &target) { return nn::mse_loss(output, target); };
  return train(model, optimizer, loss, batches, jitted);
}

template <typename Optimizer, typename Options>
std::vector<double> runCnn(const std::string &name, const Options &options, DType dtype, bool jitted) {
  StateDict file = golden(name);
  SimpleCNN model(dtype);
  loadInitial(model, file, dtype);
  Optimizer optimizer(model.parameters(), options);
  auto loss = [](const Tensor &output, const Tensor &target) { return nn::cross_entropy(output, target); };
  return train(model, optimizer, loss, digits(file, dtype), jitted);
}

std::vector<double> runSgd(DType dtype, bool jitted) {
  return runCnn<optim::SGD>("cnn_sgd", optim::SGDOptions{.lr = 0.01, .momentum = 0.9}, dtype, jitted);
}
std::vector<double> runAdamW(DType dtype, bool jitted) {
  return runCnn<optim::AdamW>("cnn_adamw", optim::AdamWOptions{.lr = 1e-3}, dtype, jitted);
}

} // namespace

TEST(FrontendGolden, MlpF64) { expectGolden(runMlp(f64, true), golden("mlp"), f64); }
TEST(FrontendGolden, CnnSgdF64) { expectGolden(runSgd(f64, true), golden("cnn_sgd"), f64); }
TEST(FrontendGolden, CnnAdamWF64) { expectGolden(runAdamW(f64, true), golden("cnn_adamw"), f64); }
TEST(FrontendGolden, MlpF32) {
  std::vector<double> losses = runMlp(f32, true);
  expectGolden(losses, golden("mlp"), f32);
  EXPECT_EQ(losses, runMlp(f32, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, CnnSgdF32) {
  std::vector<double> losses = runSgd(f32, true);
  expectGolden(losses, golden("cnn_sgd"), f32);
  EXPECT_EQ(losses, runSgd(f32, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, CnnAdamWF32) {
  std::vector<double> losses = runAdamW(f32, true);
  expectGolden(losses, golden("cnn_adamw"), f32);
  EXPECT_EQ(losses, runAdamW(f32, false)) << "define-by-run gives the same bits";
}

TEST(FrontendGolden, StateDictsHavePyTorchsNamesAndOrder) {
  struct Nested : nn::Sequential {
    using nn::Sequential::Sequential;
    Parameter scale = parameter("scale", {3}, init::ones());
  };
  Mlp mlp(f32);
  SimpleCNN cnn(f32);
  Nested nested(nn::Conv2d(2, 4, {3, 2}), nn::ReLU(), nn::Sequential(nn::Flatten(), nn::Linear(8, 3, {.bias = false})),
                nn::Linear(3, 1));
  std::string lines;
  auto list = [&](const std::string &label, const nn::Module &model) {
    for (const auto &[name, tensor] : model.state_dict()) {
      lines.append(label).append(" ").append(name).append(" f32[");
      for (int64_t i = 0; i < tensor.dim(); ++i)
        lines.append(i ? "," : "").append(std::to_string(tensor.size(i)));
      lines += "]\n";
    }
  };
  list("mlp", mlp);
  list("cnn", cnn);
  list("nested", nested);
  std::ifstream file(std::string(DLC_TEST_FOLDER) + "/golden/state_dict.txt");
  std::string expected((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(lines, expected);
}
