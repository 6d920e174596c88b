#include "drivers/sim/SimEngine.h"

#include <algorithm>
#include <atomic>

namespace dlc {

namespace {

// Below this many threads of a grid, waking the host's other threads costs more than it gains.
constexpr uint64_t kParallelThreads = 2048;

Status checkLaunch(const SimKernel &kernel) {
  auto product = [](const std::array<uint32_t, 3> &shape) { return uint64_t(shape[0]) * shape[1] * shape[2]; };
  std::string problem;
  if (!kernel.function)
    problem = "expects a function compiled for simulated devices, got none; compile with the target sim";
  else if (std::any_of(kernel.block.begin(), kernel.block.end(), [](uint32_t d) { return d > kMaxBlockThreads; }) ||
           product(kernel.block) == 0 || product(kernel.block) > kMaxBlockThreads)
    problem = "expects a block of 1 to " + std::to_string(kMaxBlockThreads) + " threads, got " +
              std::to_string(product(kernel.block));
  else if (product(kernel.grid) > uint64_t(INT64_MAX))
    problem = "expects a grid of fewer blocks";
  if (problem.empty())
    return Status();
  return Status(StatusCode::InvalidInput, "kernel '" + kernel.name + "': " + problem);
}

bool runsBackwards(SimOrder order) { return order == SimOrder::Reverse || order == SimOrder::WarpReverse; }

} // namespace

/// A launch that several threads of the host work at.
struct SimEngine::Grid {
  Grid(SimEngine &owner, const SimKernel &kernel, void *const *pointers, AccessChecker *checker)
      : engine(owner), launch{&kernel, pointers, &owner.options_, checker},
        blocks(uint64_t(kernel.grid[0]) * kernel.grid[1] * kernel.grid[2]) {}

  SimEngine &engine;
  SimLaunch launch;
  uint64_t blocks;
  std::atomic<bool> failed{false};
  std::mutex mutex;
  Status error; ///< the first
};

SimEngine::SimEngine(SimOptions options)
    : options_(options), team_(options.check     ? 1
                               : options.threads ? options.threads
                                                 : int(std::max(1u, std::thread::hardware_concurrency()))) {}

Status SimEngine::run(const SimKernel &kernel, void *const *pointers, GlobalShadow *memory) {
  if (Status status = checkLaunch(kernel); !status.ok())
    return status;
  if (!options_.check)
    return runParallel(kernel, pointers);
  GlobalShadow none;
  return runChecked(kernel, pointers, memory ? *memory : none);
}

Status SimEngine::runChecked(const SimKernel &kernel, void *const *pointers, GlobalShadow &memory) {
  checker_.beginLaunch(kernel, pointers, memory);
  Grid grid(*this, kernel, pointers, &checker_);
  runBlocks(grid, 0, grid.blocks);
  return grid.error;
}

Status SimEngine::runParallel(const SimKernel &kernel, void *const *pointers) {
  Grid grid(*this, kernel, pointers, nullptr);
  uint64_t threads = uint64_t(kernel.block[0]) * kernel.block[1] * kernel.block[2];
  if (grid.blocks < 2 || grid.blocks * threads < kParallelThreads) {
    runBlocks(grid, 0, grid.blocks);
    return grid.error;
  }
  void *context = &grid;
  auto part = [](void *const *pointers, const int64_t *, int64_t first, int64_t last) {
    Grid &shared = *static_cast<Grid *>(pointers[0]);
    shared.engine.runBlocks(shared, uint64_t(first), uint64_t(last));
  };
  team_.parallelFor(int64_t(grid.blocks), 1, part, &context, nullptr);
  return grid.error;
}

void SimEngine::runBlocks(Grid &grid, uint64_t first, uint64_t last) {
  std::unique_ptr<SimBlock> block = takeBlock();
  bool backwards = runsBackwards(options_.order);
  for (uint64_t i = first; i < last && !grid.failed.load(std::memory_order_relaxed); ++i) {
    Status status = block->run(grid.launch, backwards ? grid.blocks - 1 - i : i);
    if (status.ok())
      continue;
    std::lock_guard lock(grid.mutex);
    if (!grid.failed.exchange(true))
      grid.error = std::move(status);
  }
  giveBack(std::move(block));
}

std::unique_ptr<SimBlock> SimEngine::takeBlock() {
  std::lock_guard lock(mutex_);
  if (idle_.empty())
    return std::make_unique<SimBlock>();
  std::unique_ptr<SimBlock> block = std::move(idle_.back());
  idle_.pop_back();
  return block;
}

void SimEngine::giveBack(std::unique_ptr<SimBlock> block) {
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(block));
}

} // namespace dlc
