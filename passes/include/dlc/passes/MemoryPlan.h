#pragma once

#include "dlc/ir/Program.h"
#include "mlir/Pass/Pass.h"
#include <functional>

namespace dlc::passes {

/// Scratch bytes a group's kernel needs while it runs; the code generator knows.
using WorkspaceBytes = std::function<int64_t(dl::GroupOp)>;

/// What memory an entry may need, in bytes; 0: no limit.
struct MemoryLimits {
  int64_t all = 0;        ///< at its peak
  int64_t activation = 0; ///< of activations

  /// Those of an entry: what its attributes `dl.memory_limit` and `dl.activation_budget` say, else these.
  MemoryLimits of(mlir::Operation *entry) const;
  static void removeFrom(mlir::Operation *entry);
};

/// dl-plan-memory with the code generator's answer. `sliceAlignment`: bytes to which kernels need their operands
/// aligned.
std::unique_ptr<mlir::Pass> createPlanMemoryPass(WorkspaceBytes workspaceOf, MemoryLimits limits = {},
                                                 int64_t sliceAlignment = 1);

/// dl-rematerialize, the same way.
std::unique_ptr<mlir::Pass> createRematerializePass(WorkspaceBytes workspaceOf, MemoryLimits limits,
                                                    int64_t sliceAlignment = 1);

} // namespace dlc::passes
