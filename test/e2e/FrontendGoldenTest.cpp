#include "GoldenCurves.h"

#include <fstream>
#include <iterator>

using namespace dlc;
using namespace dlc::test;

// The curves of test/golden: PyTorch's losses from the same weights and batches.
namespace {

std::vector<double> runMlp(DType dtype, bool jitted, bool mixed = false) {
  StateDict file = golden("mlp");
  Mlp model(dtype);
  loadInitial(model, file, dtype);
  optim::SGD optimizer(model.parameters(), {.lr = 0.01});
  return train(model, optimizer, meanSquares, vectors(file, dtype), jitted, mixed);
}

template <typename Optimizer, typename Options>
std::vector<double> runCnn(const std::string &name, const Options &options, DType dtype, bool jitted, bool mixed) {
  StateDict file = golden(name);
  SimpleCNN model(dtype);
  loadInitial(model, file, dtype);
  Optimizer optimizer(model.parameters(), options);
  return train(model, optimizer, crossEntropy, digits(file, dtype), jitted, mixed);
}

std::vector<double> runSgd(DType dtype, bool jitted, bool mixed = false) {
  return runCnn<optim::SGD>("cnn_sgd", optim::SGDOptions{.lr = 0.01, .momentum = 0.9}, dtype, jitted, mixed);
}
std::vector<double> runAdamW(DType dtype, bool jitted, bool mixed = false) {
  return runCnn<optim::AdamW>("cnn_adamw", optim::AdamWOptions{.lr = 1e-3}, dtype, jitted, mixed);
}

std::vector<double> runTransformer(DType dtype, bool jitted, bool mixed = false) {
  StateDict file = golden("transformer");
  Transformer model(dtype);
  loadInitial(model, file, dtype);
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  return train(model, optimizer, crossEntropy, text(file), jitted, mixed);
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

TEST(FrontendGolden, TransformerF64) { expectGolden(runTransformer(f64, true), golden("transformer"), f64); }
TEST(FrontendGolden, TransformerF32) {
  std::vector<double> losses = runTransformer(f32, true);
  expectGolden(losses, golden("transformer"), f32);
  EXPECT_EQ(losses, runTransformer(f32, false)) << "define-by-run gives the same bits";
}

// Mixed precision beside PyTorch's.
TEST(FrontendGolden, MlpMixed) {
  std::vector<double> losses = runMlp(f32, true, true);
  expectGoldenMixed(losses, "mlp");
  EXPECT_EQ(losses, runMlp(f32, false, true)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, CnnSgdMixed) {
  std::vector<double> losses = runSgd(f32, true, true);
  expectGoldenMixed(losses, "cnn_sgd");
  EXPECT_EQ(losses, runSgd(f32, false, true)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, CnnAdamWMixed) {
  std::vector<double> losses = runAdamW(f32, true, true);
  expectGoldenMixed(losses, "cnn_adamw");
  EXPECT_EQ(losses, runAdamW(f32, false, true)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, TransformerMixed) {
  std::vector<double> losses = runTransformer(f32, true, true);
  expectGoldenMixed(losses, "transformer");
  EXPECT_EQ(losses, runTransformer(f32, false, true)) << "define-by-run gives the same bits";
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
  list("transformer", Transformer(f32));
  std::ifstream file(std::string(DLC_TEST_FOLDER) + "/golden/state_dict.txt");
  std::string expected((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(lines, expected);
}
