// Training curves of hand-written modules against PyTorch's: by the reference evaluator in double, and compiled in f32.
#include "GoldenModules.h"

#include "dlc/codegen/CompileModule.h"
#include "dlc/ir/Reference.h"
#include "dlc/passes/Passes.h"
#include "dlc/passes/Pipelines.h"
#include "dlc/runtime/Session.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace dlc;
using namespace mlir;
using namespace dlc::test;

namespace {

class GoldenCurve : public testing::TestWithParam<Curve> {};

std::string name(const testing::TestParamInfo<Curve> &info) { return info.param.name; }

dl::ReferenceTensor reference(Type type, ArrayRef<float> floats, ArrayRef<int64_t> integers) {
  dl::ReferenceTensor tensor(cast<RankedTensorType>(type));
  if (tensor.isFloat())
    tensor.floats.assign(floats.begin(), floats.end());
  else
    tensor.integers.assign(integers.begin(), integers.end());
  return tensor;
}

dl::ReferenceTensor filled(Type type, Attribute init) {
  dl::ReferenceTensor tensor(cast<RankedTensorType>(type));
  if (auto constant = dyn_cast<dl::ConstantAttr>(init))
    std::fill(tensor.floats.begin(), tensor.floats.end(), constant.getValue().getValueAsDouble());
  return tensor;
}

// The formulas of the evaluator in double follow PyTorch in double: 1e-9 is far above rounding over 50 steps, far below
// any error of a formula.
TEST_P(GoldenCurve, EvaluatorInDoubleFollowsPyTorchInDouble) {
  const Curve &curve = GetParam();
  Golden golden(curve);
  DialectRegistry registry;
  codegen::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(readText(sourcePath(curve.module)), &context);
  ASSERT_TRUE(module);
  PassManager manager(&context, ModuleOp::getOperationName());
  passes::PipelineOptions options;
  options.train = curve.optimizer;
  passes::buildImportPipeline(manager, options);
  manager.addPass(passes::createForwardStatePass());
  manager.addPass(passes::createAutodiffPass());
  ASSERT_TRUE(succeeded(manager.run(*module)));

  dl::ReferenceState state;
  for (auto variable : module->getOps<dl::VariableOp>()) {
    std::string key = variable.getSymName().str();
    if (const TensorView *initial = golden.tensors().find(std::string(kInitial) + key))
      state.emplace(key, reference(variable.getType(), values<float>(*initial), {}));
    else
      state.emplace(key, filled(variable.getType(), variable.getInit()));
  }
  if (auto momentum = state.find("opt.momentum"); momentum != state.end())
    momentum->second.floats[0] = curve.momentum;
  func::FuncOp entry = *module->getOps<func::FuncOp>().begin();
  for (int64_t step = 0; step < golden.steps(); ++step) {
    Golden::Batch batch = golden.batch(step);
    std::vector<dl::ReferenceTensor> arguments;
    for (auto [type, argument] : llvm::zip_equal(entry.getArgumentTypes(), batch))
      arguments.push_back(reference(type, argument.floats, argument.integers));
    auto results = dl::evaluateFunction(entry, arguments, state);
    ASSERT_TRUE(succeeded(results));
    ASSERT_NEAR(results->front().at(0), golden.loss64(step), 1e-9) << "step " << step;
  }
}

// The golden rule: off PyTorch's f32 loss by at most 1e-5 of it, or four times what PyTorch's own f32 is off its f64.
TEST_P(GoldenCurve, CompiledFollowsPyTorch) {
  const Curve &curve = GetParam();
  Golden golden(curve);
  codegen::CompileOptions options;
  options.train = curve.optimizer;
  auto compiled = codegen::compile(readText(sourcePath(curve.module)), curve.module, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  auto session = Session::create({.threads = 2}).take();
  auto program = session->attach((*compiled)->load().take()).take();
  for (const TensorView &tensor : golden.tensors().tensors())
    if (tensor.name.starts_with(kInitial)) {
      const Session::Variable *variable = session->find(tensor.name.substr(kInitial.size()));
      ASSERT_NE(variable, nullptr) << tensor.name;
      ASSERT_EQ(variable->type.shape, tensor.shape);
      std::memcpy(variable->data, tensor.data, size_t(variable->type.bytes()));
    }
  if (const Session::Variable *momentum = session->find("opt.momentum"))
    *static_cast<double *>(momentum->data) = curve.momentum;
  double own = 0; // largest difference of PyTorch's own two runs so far
  for (int64_t step = 0; step < golden.steps(); ++step) {
    Golden::Batch batch = golden.batch(step);
    float loss = 0;
    auto bytes = [](auto &list) { return DlcBuffer{list.data(), int64_t(list.size() * sizeof(list[0]))}; };
    DlcBuffer arguments[2];
    for (auto [buffer, argument] : llvm::zip_equal(arguments, batch))
      buffer = argument.integers.empty() ? bytes(argument.floats) : bytes(argument.integers);
    DlcBuffer result{&loss, sizeof loss};
    Status status = program->call(0, arguments, {&result, 1});
    ASSERT_TRUE(status.ok()) << status.message();
    own = std::max(own, std::abs(golden.loss32(step) - golden.loss64(step)));
    ASSERT_NEAR(loss, golden.loss32(step), std::max(1e-5 * std::abs(golden.loss32(step)), 4 * own)) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Curves, GoldenCurve,
                         testing::Values(Curve{"mlp", "test/e2e/golden/mlp.mlir", "sgd", 0},
                                         Curve{"cnn_sgd", "examples/mlir/simple_cnn_loss.mlir", "sgd", 0.9},
                                         Curve{"cnn_adamw", "examples/mlir/simple_cnn_loss.mlir", "adamw", 0},
                                         Curve{"transformer", "test/e2e/golden/transformer.mlir", "adamw", 0}),
                         name);

} // namespace
