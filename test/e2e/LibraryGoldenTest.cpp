// Training curves of hand-written modules whose contractions and convolutions are calls of libraries, on a GPU or on
// what stands in for one: the golden rule of the generated kernels.
#include "GoldenModules.h"

#include "dlc/codegen/CompileModule.h"
#include "dlc/runtime/Session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace dlc;
using namespace dlc::test;

namespace {

struct Case {
  Curve curve;
  const char *amp;
  int64_t steps;
  bool products, convolutions; ///< which calls there must be
  double tolerance = 1e-5;     ///< of a loss
  std::string name() const { return std::string(curve.name) + (*amp ? "_" : "") + amp; }
  friend std::ostream &operator<<(std::ostream &out, const Case &what) { return out << what.name(); }
};

class LibraryGolden : public testing::TestWithParam<Case> {};

std::string name(const testing::TestParamInfo<Case> &info) { return info.param.name(); }

int64_t callsOf(const Manifest &manifest, std::string_view library) {
  return std::count_if(manifest.kernels.begin(), manifest.kernels.end(),
                       [&](const KernelInfo &kernel) { return kernel.call && kernel.call->library() == library; });
}

void start(Session &session, const Golden &golden, double momentum) {
  for (const TensorView &tensor : golden.tensors().tensors())
    if (tensor.name.starts_with(kInitial)) {
      std::string name = tensor.name.substr(kInitial.size());
      const Session::Variable *variable = session.find(name);
      ASSERT_NE(variable, nullptr) << name;
      auto *bytes = static_cast<const std::byte *>(tensor.data);
      Status status = session.write(name, {bytes, size_t(variable->type.bytes())});
      ASSERT_TRUE(status.ok()) << status.message();
    }
  if (session.find("opt.momentum")) {
    auto *bytes = reinterpret_cast<const std::byte *>(&momentum);
    ASSERT_TRUE(session.write("opt.momentum", {bytes, sizeof momentum}).ok());
  }
}

DlcBuffer bytesOf(Golden::Argument &argument) {
  if (argument.integers.empty())
    return {argument.floats.data(), int64_t(argument.floats.size() * sizeof(float))};
  return {argument.integers.data(), int64_t(argument.integers.size() * sizeof(int64_t))};
}

// Off PyTorch's f32 loss by at most 1e-5 of it, or four times what PyTorch's own f32 is off its f64. Products of 16
// bits are off by some of their 8 or 11.
TEST_P(LibraryGolden, FollowsPyTorch) {
  const auto &[curve, amp, steps, products, convolutions, tolerance] = GetParam();
  Golden golden(curve);
  codegen::CompileOptions options;
  options.train = curve.optimizer;
  options.amp = amp;
  options.targets = {"cuda:sm_90", "sim"};
  options.matMul = options.conv = "library";
  auto compiled = codegen::compile(readText(sourcePath(curve.module)), curve.module, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  auto executable = (*compiled)->load().take();
  EXPECT_EQ(callsOf(executable->manifest(), "cublaslt") > 0, products);
  EXPECT_EQ(callsOf(executable->manifest(), "cudnn") > 0, convolutions);
  setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 0);
  auto session = Session::create({.device = {"cuda", 0}});
  ASSERT_TRUE(session.ok()) << session.status().message();
  auto program = (*session)->attach(executable);
  ASSERT_TRUE(program.ok()) << program.status().message();
  start(**session, golden, curve.momentum);
  double own = 0; // largest difference of PyTorch's own two runs so far
  for (int64_t step = 0; step < std::min(steps, golden.steps()); ++step) {
    Golden::Batch batch = golden.batch(step);
    DlcBuffer arguments[] = {bytesOf(batch[0]), bytesOf(batch[1])};
    float loss = 0;
    DlcBuffer result{&loss, sizeof loss};
    Status status = (*program)->call(0, arguments, {&result, 1});
    ASSERT_TRUE(status.ok()) << status.message();
    own = std::max(own, std::abs(golden.loss32(step) - golden.loss64(step)));
    ASSERT_NEAR(loss, golden.loss32(step), std::max(tolerance * std::abs(golden.loss32(step)), 4 * own))
        << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Curves, LibraryGolden,
    testing::Values(Case{{"mlp", "test/e2e/golden/mlp.mlir", "sgd", 0}, "", 10, true, false},
                    Case{{"mlp", "test/e2e/golden/mlp.mlir", "sgd", 0}, "bf16", 10, true, false, 2e-2},
                    Case{{"mlp", "test/e2e/golden/mlp.mlir", "sgd", 0}, "fp16", 10, true, false, 2e-3},
                    Case{{"cnn_sgd", "examples/mlir/simple_cnn_loss.mlir", "sgd", 0.9}, "", 3, true, true},
                    Case{{"cnn_sgd", "examples/mlir/simple_cnn_loss.mlir", "sgd", 0.9}, "bf16", 2, true, true, 2e-2},
                    Case{{"transformer", "test/e2e/golden/transformer.mlir", "adamw", 0}, "", 10, true, false}),
    name);

} // namespace
