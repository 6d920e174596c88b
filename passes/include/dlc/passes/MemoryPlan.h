#pragma once

#include "dlc/ir/Program.h"
#include "mlir/Pass/Pass.h"
#include <functional>

namespace dlc::passes {

/// Scratch bytes a group's kernel needs while it runs; the code generator knows.
using WorkspaceBytes = std::function<int64_t(dl::GroupOp)>;

/// dl-plan-memory with the code generator's answer; `memoryLimit` in bytes, 0 for none. `sliceAlignment`: bytes to
/// which kernels need their operands aligned.
std::unique_ptr<mlir::Pass> createPlanMemoryPass(WorkspaceBytes workspaceOf, int64_t memoryLimit = 0,
                                                 int64_t sliceAlignment = 1);

} // namespace dlc::passes
