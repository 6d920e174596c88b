#include "../EvaluatedModule.h"
#include "dlc/passes/Passes.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

using namespace dlc;

static void addTraining(EvaluatedModule &module, passes::AddTrainingPassOptions options) {
  module.run(passes::createForwardStatePass(), passes::createAddTrainingPass(options), passes::createAutodiffPass());
}

static void addTraining(EvaluatedModule &module, passes::Optimizer optimizer) {
  passes::AddTrainingPassOptions options;
  options.optimizer = optimizer;
  addTraining(module, options);
}

static void setHypers(EvaluatedModule &module, std::initializer_list<std::pair<const char *, double>> values) {
  for (auto [name, value] : values)
    module.set(name, mlir::Float64Type::get(&module.getContext()), {}, value);
  module.set("opt.step", mlir::IntegerType::get(&module.getContext(), 64), {}, 0);
}

// loss = w * x; @unused is read but reaches the loss only through stop_gradient.
constexpr const char *kOneWeight = R"(
  dl.variable @unused : tensor<f64> role(parameter) init(#dl.constant<1.0>)
  dl.variable @w : tensor<f64> role(parameter) init(#dl.constant<1.0>)
  func.func @train(%x: tensor<f64>) -> tensor<f64> attributes {dl.entry} {
    %u = dl.read @unused : tensor<f64>
    %w = dl.read @w : tensor<f64>
    %s = dl.stop_gradient %u : tensor<f64>
    %y = dl.mul %w, %x : tensor<f64>
    %loss = dl.mul %y, %s : tensor<f64>
    return %loss : tensor<f64>
  })";

TEST(AddTraining, ParameterWithoutGradientGetsNoUpdate) { // OPT-09
  EvaluatedModule module(kOneWeight);
  addTraining(module, passes::Optimizer::Sgd);
  EXPECT_TRUE(module.get().lookupSymbol("opt.momentum_buffer.w"));
  EXPECT_FALSE(module.get().lookupSymbol("opt.momentum_buffer.unused"));
  mlir::Type f64 = mlir::Float64Type::get(&module.getContext());
  setHypers(module, {{"opt.lr", 0.1}, {"opt.momentum", 0.9}, {"opt.weight_decay", 0.1}});
  for (const char *name : {"unused", "w", "opt.momentum_buffer.w"})
    module.set(name, f64, {}, 1);
  module.call({2});
  EXPECT_EQ(module.state.at("unused").at(0), 1);
  EXPECT_DOUBLE_EQ(module.state.at("opt.momentum_buffer.w").at(0), 0.9 + (2 + 0.1));
  EXPECT_DOUBLE_EQ(module.state.at("w").at(0), 1 - 0.1 * 3.0);
  EXPECT_EQ(module.state.at("opt.step").at(0), 1);
}

// The first step of AdamW is lr in the direction of the sign, whatever the gradient, after the decay.
TEST(AddTraining, FirstStepOfAdamW) {
  EvaluatedModule module(kOneWeight);
  addTraining(module, passes::Optimizer::AdamW);
  mlir::Type f64 = mlir::Float64Type::get(&module.getContext());
  setHypers(module,
            {{"opt.lr", 0.1}, {"opt.beta1", 0.9}, {"opt.beta2", 0.999}, {"opt.eps", 1e-8}, {"opt.weight_decay", 0.01}});
  for (const char *name : {"opt.exp_avg.w", "opt.exp_avg_sq.w"})
    module.set(name, f64, {}, 0);
  for (const char *name : {"unused", "w"})
    module.set(name, f64, {}, 1);
  module.call({2});
  EXPECT_NEAR(module.state.at("w").at(0), (1 - 0.1 * 0.01) - 0.1, 1e-8);
  EXPECT_NEAR(module.state.at("opt.exp_avg.w").at(0), 0.2, 1e-12);
  EXPECT_NEAR(module.state.at("opt.exp_avg_sq.w").at(0), 0.004, 1e-12);
}

// AMP-01, AMP-07: gradients (3, 4) of a loss times 1024, clipped to norm 1 as they are without the scale.
TEST(AddTraining, ClipsBehindTheScale) {
  EvaluatedModule module(R"(
    dl.variable @a : tensor<f64> role(parameter) init(#dl.constant<1.0>)
    dl.variable @b : tensor<f64> role(parameter) init(#dl.constant<1.0>)
    func.func @train(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> attributes {dl.entry} {
      %a = dl.read @a : tensor<f64>
      %b = dl.read @b : tensor<f64>
      %p = dl.mul %a, %x : tensor<f64>
      %q = dl.mul %b, %y : tensor<f64>
      %loss = dl.add %p, %q : tensor<f64>
      return %loss : tensor<f64>
    })");
  passes::AddTrainingPassOptions options;
  options.momentum = false;
  options.lossScale = 1024;
  options.dynamicScale = true;
  options.clipNorm = 1;
  addTraining(module, options);
  mlir::Type f32 = mlir::Float32Type::get(&module.getContext()), f64 = mlir::Float64Type::get(&module.getContext());
  setHypers(module, {{"opt.lr", 1}, {"opt.weight_decay", 0}, {"opt.max_norm", 1}});
  module.set("scaler.scale", f32, {}, 1024);
  module.set("scaler.growth_tracker", mlir::IntegerType::get(&module.getContext(), 64), {}, 7);
  for (const char *name : {"a", "b"})
    module.set(name, f64, {}, 1);
  EXPECT_EQ(module.scalar({3, 4}), 7) << "the loss is given without the scale";
  EXPECT_NEAR(module.state.at("a").at(0), 1 - 0.6, 1e-6);
  EXPECT_NEAR(module.state.at("b").at(0), 1 - 0.8, 1e-6);
  EXPECT_EQ(module.state.at("scaler.scale").at(0), 1024);
  EXPECT_EQ(module.state.at("scaler.growth_tracker").at(0), 8);
}

// OPT-03: parameter, moments and count stay, the scale halves.
TEST(AddTraining, StepsThatOverflowAreSkipped) {
  EvaluatedModule module(kOneWeight);
  passes::AddTrainingPassOptions options;
  options.optimizer = passes::Optimizer::AdamW;
  options.lossScale = 65536;
  options.dynamicScale = true;
  addTraining(module, options);
  mlir::Type f32 = mlir::Float32Type::get(&module.getContext()), f64 = mlir::Float64Type::get(&module.getContext());
  setHypers(module,
            {{"opt.lr", 0.1}, {"opt.beta1", 0.9}, {"opt.beta2", 0.999}, {"opt.eps", 1e-8}, {"opt.weight_decay", 0}});
  for (const char *name : {"opt.exp_avg.w", "opt.exp_avg_sq.w"})
    module.set(name, f64, {}, 0);
  for (const char *name : {"unused", "w"})
    module.set(name, f64, {}, 1);
  module.set("scaler.scale", f32, {}, 65536);
  module.set("scaler.growth_tracker", mlir::IntegerType::get(&module.getContext(), 64), {}, 5);
  auto expectState = [&](double w, double step, double scale, double count) {
    EXPECT_NEAR(module.state.at("w").at(0), w, 1e-7);
    EXPECT_EQ(module.state.at("opt.step").at(0), step);
    EXPECT_EQ(module.state.at("scaler.scale").at(0), scale);
    EXPECT_EQ(module.state.at("scaler.growth_tracker").at(0), count);
  };
  module.call({1});
  expectState(0.9, 1, 65536, 6);
  double moment = module.state.at("opt.exp_avg.w").at(0);
  module.call({std::numeric_limits<double>::infinity()});
  expectState(0.9, 1, 32768, 0);
  EXPECT_EQ(module.state.at("opt.exp_avg.w").at(0), moment);
  module.call({1});
  expectState(0.8, 2, 32768, 1);
}

static std::string example(const char *name) {
  std::ifstream file(std::string(DLC_EXAMPLES) + "/mlir/" + name);
  return (std::stringstream() << file.rdbuf()).str();
}

// Weights far from symmetric, the same in both modules.
static void setWeights(EvaluatedModule &module) {
  mlir::Type f32 = mlir::Float32Type::get(&module.getContext());
  module.set("fc1.weight", f32, {20, 10}, 0);
  module.set("fc1.bias", f32, {20}, 0.1);
  module.set("fc2.weight", f32, {10, 20}, 0);
  module.set("fc2.bias", f32, {10}, -0.1);
  for (const char *name : {"fc1.weight", "fc2.weight"})
    for (auto [i, x] : llvm::enumerate(module.state.at(name).floats))
      x = 0.3 * std::sin(double(i) * 1.7);
}

TEST(AddTraining, EqualsTheStepWrittenOut) {
  EvaluatedModule written(example("mlp.mlir")), added(example("mlp_loss.mlir"));
  written.run(passes::createForwardStatePass(), passes::createAutodiffPass());
  addTraining(added, passes::Optimizer::Sgd);
  for (EvaluatedModule *module : {&written, &added}) {
    setHypers(*module, {{"opt.lr", 0.5}, {"opt.momentum", 0}, {"opt.weight_decay", 0}});
    setWeights(*module);
  }
  mlir::Type f32 = mlir::Float32Type::get(&added.getContext());
  added.set("opt.momentum_buffer.fc1.weight", f32, {20, 10}, 0);
  added.set("opt.momentum_buffer.fc1.bias", f32, {20}, 0);
  added.set("opt.momentum_buffer.fc2.weight", f32, {10, 20}, 0);
  added.set("opt.momentum_buffer.fc2.bias", f32, {10}, 0);
  double first = written.scalar({0.5, 3}), last = 0;
  EXPECT_NEAR(added.scalar({0.5, 3}), first, 1e-12);
  for (int step = 0; step < 20; ++step) {
    last = written.scalar({0.5, 3});
    EXPECT_NEAR(added.scalar({0.5, 3}), last, 1e-9);
  }
  EXPECT_LT(last, first / 4);
  for (const char *name : {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"})
    for (auto [x, y] : llvm::zip_equal(written.state.at(name).floats, added.state.at(name).floats))
      EXPECT_NEAR(x, y, 1e-9) << name;
}
