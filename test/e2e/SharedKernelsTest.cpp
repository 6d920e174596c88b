// Small updates that share a kernel leave the state they leave each by itself, bit for bit.
#include "dlc/codegen/Compiler.h"
#include "dlc/runtime/Session.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <random>

using namespace dlc;

namespace {

std::string readText(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Bytes by name: variables, and "result" of every step.
using State = std::map<std::string, std::vector<std::byte>>;

struct Step {
  std::string module, optimizer, device;

  codegen::CompileOptions options(bool shareKernels) const {
    codegen::CompileOptions options;
    options.train = optimizer;
    options.targets = {device == "cpu" ? "cpu" : "sim"};
    options.shareKernels = shareKernels;
    return options;
  }

  std::string text() const { return readText(std::string(DLC_SOURCE) + "/examples/mlir/" + module); }

  size_t launches(bool shareKernels) const {
    std::string rt = codegen::emit(text(), module, codegen::Emit::Rt, options(shareKernels)).take();
    size_t count = 0;
    for (size_t at = rt.find("rt.launch"); at != std::string::npos; at = rt.find("rt.launch", at + 1))
      ++count;
    return count;
  }

  /// The state after three steps on drawn inputs.
  State run(bool shareKernels, int threads) const;
};

State Step::run(bool shareKernels, int threads) const {
  State state;
  auto compiled = codegen::compile(text(), module, options(shareKernels));
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  auto session = Session::create({.threads = threads, .seed = 5, .device = DeviceId::parse(device).take()}).take();
  auto program = session->attach((*compiled)->load().take()).take();
  const EntryInfo &entry = program->executable().manifest().entries[0];
  std::mt19937 random(3);
  for (int step = 0; step < 3; ++step) {
    std::vector<std::vector<std::byte>> memory;
    for (const auto &argument : entry.arguments) {
      memory.emplace_back(size_t(argument.type.bytes()));
      auto fill = [&](auto draw) {
        for (size_t at = 0; at < memory.back().size(); at += sizeof(draw()))
          if (auto value = draw(); true)
            std::memcpy(&memory.back()[at], &value, sizeof value);
      };
      if (argument.type.dtype == DType::I64)
        fill([&] { return int64_t(random() % 10); });
      else
        fill([&] { return float(random()) / 4294967296.0f - 0.5f; });
    }
    float loss = 0;
    DlcBuffer result{&loss, sizeof loss};
    std::vector<DlcBuffer> arguments;
    for (auto &bytes : memory)
      arguments.push_back({bytes.data(), int64_t(bytes.size())});
    Status status = program->call(0, arguments, {&result, 1});
    EXPECT_TRUE(status.ok()) << status.message();
    auto *bytes = reinterpret_cast<const std::byte *>(&loss);
    state["result " + std::to_string(step)].assign(bytes, bytes + sizeof loss);
  }
  for (const auto &[name, variable] : session->variables()) {
    state[name].resize(size_t(variable.type.bytes()));
    EXPECT_TRUE(session->read(name, state[name]).ok());
  }
  return state;
}

TEST(SharedKernels, ChangeNoBit) {
  for (const char *device : {"cpu", "sim:0"})
    for (const char *module : {"mlp_loss.mlir", "simple_cnn_loss.mlir"})
      for (const char *optimizer : {"sgd", "adamw"}) {
        SCOPED_TRACE(std::string(device) + " " + module + " " + optimizer);
        Step step{module, optimizer, device};
        EXPECT_LT(step.launches(true), step.launches(false));
        State alone = step.run(false, 1);
        EXPECT_GT(alone.size(), 8u);
        EXPECT_TRUE(alone == step.run(true, 3));
      }
}

} // namespace
