// Training curves of hand-written modules on several members against PyTorch's of one process.
#include "../e2e/GoldenModules.h"

#include "dlc/codegen/Compiler.h"
#include "dlc/runtime/Executable.h"
#include "dlc/runtime/Job.h"
#include "dlc/runtime/Sharding.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dlc::test {

namespace {

using runtime::Job;

struct Members {
  Curve curve;
  const char *devices; ///< "cpu:3"
  int64_t steps;       ///< at most

  friend std::ostream &operator<<(std::ostream &out, const Members &members) {
    return out << members.curve << " " << members.devices;
  }
};

class MemberCurves : public testing::TestWithParam<Members> {};

std::string nameOf(const testing::TestParamInfo<Members> &info) {
  std::string devices = info.param.devices;
  return std::string(info.param.curve.name) + "_" + devices.replace(3, 1, "_");
}

testing::AssertionResult done(const Status &status) {
  return status.ok() ? testing::AssertionSuccess() : testing::AssertionFailure() << status.message();
}

DlcBuffer bytesOf(Golden::Argument &argument) {
  return argument.integers.empty()
             ? DlcBuffer{argument.floats.data(), int64_t(argument.floats.size() * sizeof(float))}
             : DlcBuffer{argument.integers.data(), int64_t(argument.integers.size() * sizeof(int64_t))};
}

Status startFrom(Session &session, const Golden &golden, double momentum) {
  for (const TensorView &tensor : golden.tensors().tensors())
    if (std::string_view name = tensor.name; name.starts_with(kInitial)) {
      const Session::Variable *variable = session.find(name.substr(kInitial.size()));
      if (!variable)
        return {StatusCode::Internal, tensor.name + " is no variable"};
      if (Status status = session.write(name.substr(kInitial.size()),
                                        {static_cast<const std::byte *>(tensor.data), size_t(variable->type.bytes())});
          !status.ok())
        return status;
    }
  return session.find("opt.momentum") ? session.write("opt.momentum", std::as_bytes(std::span(&momentum, 1)))
                                      : Status();
}

/// What one member is given and gives.
struct Rows {
  std::array<std::vector<double>, 2> memory; // double for alignment
  float loss = 0;
};

// The golden rule, see test/e2e/GoldenCurveTest.cpp: it holds for any number of members, since the program is that of
// the whole batch. Sums over members are in another order than those of one, which the rule has room for.
TEST_P(MemberCurves, FollowPyTorchOnOneDevice) {
  const Members &given = GetParam();
  Golden golden(given.curve);
  std::vector<DeviceId> devices = runtime::parseDevices(given.devices).take();
  codegen::CompileOptions options;
  options.train = given.curve.optimizer;
  options.targets = {devices[0].kind};
  options.mesh = {{"data", int64_t(devices.size())}};
  options.dataParallel = true;
  auto compiled = codegen::compile(readText(sourcePath(given.curve.module)), given.curve.module, options);
  ASSERT_TRUE(done(compiled.status()));
  std::unique_ptr<Job> job = Job::join(runtime::Contract(), {.devices = devices}).take();
  std::shared_ptr<const Executable> executable = (*compiled)->load().take();
  StatusOr<Job::Programs> programs = job->attach(executable);
  ASSERT_TRUE(done(programs.status()));
  const Manifest &manifest = executable->manifest();
  const EntryInfo &entry = manifest.entries[0];
  EXPECT_TRUE(devices.size() == 1 || entry.arguments[0].sharding) << "the batch is not split";
  for (int local = 0; local < job->localMembers(); ++local)
    ASSERT_TRUE(done(startFrom(job->session(local), golden, given.curve.momentum)));
  double own = 0;
  std::vector<Rows> rows(devices.size());
  for (int64_t step = 0; step < std::min(given.steps, golden.steps()); ++step) {
    Golden::Batch batch = golden.batch(step);
    std::vector<std::vector<DlcBuffer>> arguments(devices.size()), results(devices.size());
    for (size_t m = 0; m < devices.size(); ++m) {
      for (size_t i = 0; i < batch.size(); ++i) {
        const ValueInfo &value = entry.arguments[i];
        // Padding of any content: NaN spoils what is not masked.
        rows[m].memory[i].assign(size_t(value.type.bytes() / 8 + 1), std::nan(""));
        runtime::takePart(value, manifest.mesh, int64_t(m), bytesOf(batch[i]).data, rows[m].memory[i].data());
        arguments[m].push_back({rows[m].memory[i].data(), value.type.bytes()});
      }
      results[m] = {{&rows[m].loss, sizeof(float)}};
    }
    ASSERT_TRUE(done(job->call(*programs, 0, arguments, results)));
    own = std::max(own, std::abs(golden.loss32(step) - golden.loss64(step)));
    for (const Rows &member : rows)
      ASSERT_NEAR(member.loss, golden.loss32(step), std::max(1e-5 * std::abs(golden.loss32(step)), 4 * own))
          << "step " << step;
  }
  EXPECT_TRUE(done(job->leave()));
}

constexpr Curve kMlp{"mlp", "test/e2e/golden/mlp.mlir", "sgd", 0};
constexpr Curve kSgd{"cnn_sgd", "examples/mlir/simple_cnn_loss.mlir", "sgd", 0.9};
constexpr Curve kAdam{"cnn_adamw", "examples/mlir/simple_cnn_loss.mlir", "adamw", 0};
constexpr Curve kTransformer{"transformer", "test/e2e/golden/transformer.mlir", "adamw", 0};

INSTANTIATE_TEST_SUITE_P(, MemberCurves,
                         testing::Values(Members{kMlp, "cpu:3", 50}, Members{kMlp, "sim:2", 10},
                                         Members{kAdam, "cpu:1", 50}, Members{kAdam, "cpu:2", 50},
                                         Members{kAdam, "cpu:3", 20}, Members{kAdam, "cpu:4", 20},
                                         Members{kSgd, "cpu:3", 50}, Members{kTransformer, "cpu:2", 20},
                                         Members{kTransformer, "cpu:3", 10}),
                         nameOf);

} // namespace

} // namespace dlc::test
