#pragma once

#include "drivers/cpu/WorkerTeam.h"
#include "drivers/sim/AccessChecker.h"
#include "drivers/sim/SimBlock.h"

#include <mutex>

namespace dlc {

/// Runs grids of kernels as a device would: blocks in parallel over threads of the host, threads of a block as fibers.
/// One grid at a time; a device that runs several streams has an engine each, or takes turns.
class SimEngine {
public:
  explicit SimEngine(SimOptions options);

  const SimOptions &options() const { return options_; }

  /// Runs the kernel and returns when its grid is done. `pointers`: one address an operand. `memory`: what the checks
  /// know of the device's memory, null: nothing. An error names kernel, block and thread.
  Status run(const SimKernel &kernel, void *const *pointers, GlobalShadow *memory = nullptr);

private:
  struct Grid;

  Status runChecked(const SimKernel &kernel, void *const *pointers, GlobalShadow &memory);
  Status runParallel(const SimKernel &kernel, void *const *pointers);
  void runBlocks(Grid &grid, uint64_t first, uint64_t last);
  std::unique_ptr<SimBlock> takeBlock();
  void giveBack(std::unique_ptr<SimBlock> block);

  SimOptions options_;
  WorkerTeam team_;
  AccessChecker checker_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<SimBlock>> idle_; // with the stacks of their fibers
};

} // namespace dlc
