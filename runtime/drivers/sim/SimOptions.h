#pragma once

#include "dlc/runtime/Status.h"

#include <cstdint>
#include <string>

namespace dlc {

/// In which order the threads of a block run. Forward, Reverse, Random: each in turn up to its next meeting point;
/// Warp, WarpReverse: one warp as far as it can before the next, which alone shows a missing barrier before an
/// overwrite. Reverse orders also run the blocks of a grid from the last to the first.
enum class SimOrder { Forward, Reverse, Warp, WarpReverse, Random };

/// When an asynchronous copy writes: at the wait for it (a missing wait shows) or at once (a missing barrier before a
/// buffer is used again shows).
enum class SimCopy { Late, Eager };

/// How a simulated device runs kernels. No choice changes the result of a right kernel.
struct SimOptions {
  SimOrder order = SimOrder::Warp;
  uint64_t seed = 0; ///< of Random
  SimCopy copy = SimCopy::Late;
  bool check = false; ///< kernels compiled with checks report wrong accesses; grids then run on one thread
  int threads = 0;    ///< of the host, for the blocks of a grid; 0: as many as there are

  /// From DLC_SIM_ORDER (forward, reverse, warp, warp-reverse, random:<seed>), DLC_SIM_COPY (late, eager) and
  /// DLC_SIM_CHECK (0, 1); an error names the variable with the wrong value.
  static StatusOr<SimOptions> fromEnvironment();
};

/// The same spellings for options of tools.
StatusOr<SimOptions> withOrder(SimOptions options, const std::string &order);
StatusOr<SimOptions> withCopy(SimOptions options, const std::string &copy);

} // namespace dlc
