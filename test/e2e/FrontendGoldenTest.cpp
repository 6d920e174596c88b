#include "GoldenCurves.h"

#include <fstream>
#include <iterator>

using namespace dlc;
using namespace dlc::test;

// The curves of test/golden: PyTorch's losses from the same weights and batches.
namespace {

/// `type`: of weights and data, f64 or f32; or f32 with the forward part in bf16 or f16.
DType stored(DType type) { return type == f64 ? f64 : f32; }
DType forward(DType type) { return type == f64 ? f32 : type; }

Curve runMlp(DType type, bool jitted) {
  StateDict file = golden("mlp");
  Mlp model(stored(type));
  loadInitial(model, file, stored(type));
  optim::SGD optimizer(model.parameters(), {.lr = 0.01});
  return trainMixed(model, optimizer, meanSquares, vectors(file, stored(type)), jitted, forward(type));
}

template <typename Optimizer, typename Options>
Curve runCnn(const std::string &name, const Options &options, DType type, bool jitted) {
  StateDict file = golden(name);
  SimpleCNN model(stored(type));
  loadInitial(model, file, stored(type));
  Optimizer optimizer(model.parameters(), options);
  return trainMixed(model, optimizer, crossEntropy, digits(file, stored(type)), jitted, forward(type));
}

Curve runSgd(DType type, bool jitted) {
  return runCnn<optim::SGD>("cnn_sgd", optim::SGDOptions{.lr = 0.01, .momentum = 0.9}, type, jitted);
}
Curve runAdamW(DType type, bool jitted) {
  return runCnn<optim::AdamW>("cnn_adamw", optim::AdamWOptions{.lr = 1e-3}, type, jitted);
}

Curve runTransformer(DType type, bool jitted) {
  StateDict file = golden("transformer");
  Transformer model(stored(type));
  loadInitial(model, file, stored(type));
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  return trainMixed(model, optimizer, crossEntropy, text(file), jitted, forward(type));
}

/// cnn_sgd's curve, with batches that f16 cannot hold and a scale that overflows, as export.py has them.
Curve runOverflow(bool jitted) {
  StateDict file = golden("cnn_sgd");
  SimpleCNN model(f32);
  loadInitial(model, file, f32);
  optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.9});
  BatchList batches = digits(file, f32);
  for (size_t step : {5, 6, 23})
    batches[step].first = batches[step].first * 1e6;
  return trainMixed(model, optimizer, crossEntropy, batches, jitted, f16, 8);
}

} // namespace

TEST(FrontendGolden, MlpF64) { expectGolden(runMlp(f64, true).losses, golden("mlp"), f64); }
TEST(FrontendGolden, CnnSgdF64) { expectGolden(runSgd(f64, true).losses, golden("cnn_sgd"), f64); }
TEST(FrontendGolden, CnnAdamWF64) { expectGolden(runAdamW(f64, true).losses, golden("cnn_adamw"), f64); }
TEST(FrontendGolden, TransformerF64) { expectGolden(runTransformer(f64, true).losses, golden("transformer"), f64); }
TEST(FrontendGolden, MlpF32) {
  Curve curve = runMlp(f32, true);
  expectGolden(curve.losses, golden("mlp"), f32);
  EXPECT_EQ(curve, runMlp(f32, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, CnnSgdF32) {
  Curve curve = runSgd(f32, true);
  expectGolden(curve.losses, golden("cnn_sgd"), f32);
  EXPECT_EQ(curve, runSgd(f32, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, CnnAdamWF32) {
  Curve curve = runAdamW(f32, true);
  expectGolden(curve.losses, golden("cnn_adamw"), f32);
  EXPECT_EQ(curve, runAdamW(f32, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, TransformerF32) {
  Curve curve = runTransformer(f32, true);
  expectGolden(curve.losses, golden("transformer"), f32);
  EXPECT_EQ(curve, runTransformer(f32, false)) << "define-by-run gives the same bits";
}

// Mixed precision beside PyTorch's.
TEST(FrontendGolden, MlpBF16) {
  Curve curve = runMlp(bf16, true);
  expectGoldenMixed(curve, "mlp", bf16);
  EXPECT_EQ(curve, runMlp(bf16, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, MlpF16) {
  Curve curve = runMlp(f16, true);
  expectGoldenMixed(curve, "mlp", f16);
  EXPECT_EQ(curve, runMlp(f16, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, CnnSgdBF16) {
  Curve curve = runSgd(bf16, true);
  expectGoldenMixed(curve, "cnn_sgd", bf16);
  EXPECT_EQ(curve, runSgd(bf16, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, CnnSgdF16) {
  Curve curve = runSgd(f16, true);
  expectGoldenMixed(curve, "cnn_sgd", f16);
  EXPECT_EQ(curve, runSgd(f16, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, CnnAdamWBF16) {
  Curve curve = runAdamW(bf16, true);
  expectGoldenMixed(curve, "cnn_adamw", bf16);
  EXPECT_EQ(curve, runAdamW(bf16, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, CnnAdamWF16) {
  Curve curve = runAdamW(f16, true);
  expectGoldenMixed(curve, "cnn_adamw", f16);
  EXPECT_EQ(curve, runAdamW(f16, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, TransformerBF16) {
  Curve curve = runTransformer(bf16, true);
  expectGoldenMixed(curve, "transformer", bf16);
  EXPECT_EQ(curve, runTransformer(bf16, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, TransformerF16) {
  Curve curve = runTransformer(f16, true);
  expectGoldenMixed(curve, "transformer", f16);
  EXPECT_EQ(curve, runTransformer(f16, false)) << "define-by-run gives the same bits";
}
TEST(FrontendGolden, OverflowsSkipPyTorchsSteps) {
  Curve curve = runOverflow(true);
  StateDict file = golden("autocast");
  EXPECT_EQ(curve.scales, file.at("overflow.fp16.scale").to_vector<double>());
  expectLosses(curve.losses, file.at("overflow.fp16").to_vector<double>(), file.at("overflow.f32").to_vector<double>());
  Curve other = runOverflow(false);
  EXPECT_EQ(curve.scales, other.scales);
  for (size_t i = 0; i < curve.losses.size(); ++i)
    if (std::isfinite(curve.losses[i]))
      EXPECT_EQ(curve.losses[i], other.losses[i]) << "define-by-run gives the same bits; step " << i;
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
