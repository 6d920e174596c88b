// replay-bench: what the host pays for a call of an entry's code that is held back, since its work comes again as a
// graph.
#include "../Timing.h"

#include "executor/Replay.h"

using namespace dlc;

namespace {

class EmptyGraph : public runtime::Graph {};

/// A device that costs nothing.
class EmptyStream : public runtime::Stream {
public:
  Status copyToDevice(void *, const void *, int64_t) override { return {}; }
  Status copyToHost(void *, const void *, int64_t) override { return {}; }
  Status copy(void *, const void *, int64_t) override { return {}; }
  Status fill(void *, uint8_t, int64_t) override { return {}; }
  Status record(runtime::Event &) override { return {}; }
  Status wait(runtime::Event &) override { return {}; }
  Status synchronize() override { return {}; }
  StatusOr<std::unique_ptr<runtime::Graph>> capture(const std::function<Status()> &give) override {
    if (Status status = give(); !status.ok())
      return status;
    return std::unique_ptr<runtime::Graph>(new EmptyGraph);
  }
  Status launch(runtime::Graph &) override { return {}; }
};

class EmptyKernels : public runtime::Kernels {
public:
  Status launch(runtime::Stream &, uint32_t, void *const *, std::string_view) override { return {}; }
};

void check(const Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}

/// Nanoseconds a launch of `operands` pointers, of a call with `launches` of them behind a boundary.
double launchCost(size_t operands, int launches) {
  constexpr int kCalls = 200;
  Manifest manifest;
  manifest.entries = {{"step", {}, {}, 0}};
  manifest.kernels.resize(1);
  manifest.kernels[0].operands.resize(operands);
  EmptyStream stream;
  EmptyKernels kernels;
  Replay replay(stream, kernels, manifest);
  std::vector<char> memory(size_t(launches) + operands);
  std::vector<void *> pointers(operands);
  auto enter = [&] {
    Status status = replay.boundary();
    for (int i = 0; i < launches && status.ok(); ++i) {
      for (size_t operand = 0; operand < operands; ++operand)
        pointers[operand] = memory.data() + i + operand;
      status = replay.launch(0, pointers.data());
    }
    return status;
  };
  for (int i = 0; i < 3; ++i)
    check(replay.run({}, enter));
  double best = 1;
  for (int i = 0; i < kCalls; ++i) {
    auto start = bench::Clock::now();
    check(replay.run({}, enter));
    best = std::min(best, bench::secondsSince(start));
  }
  return best / launches * 1e9;
}

} // namespace

int main() {
  for (size_t operands : {2, 4, 8, 16})
    std::printf("{\"operands\": %zu, \"nanoseconds a launch\": %.1f}\n", operands, launchCost(operands, 1000));
}
