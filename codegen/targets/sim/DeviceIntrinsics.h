#pragma once

#include "dlc/runtime/Status.h"
#include "targets/sim/ServiceCalls.h"

namespace dlc::codegen {

/// Replaces the function's nvvm intrinsics by services of the engine or LLVM's own intrinsics. An error names the first
/// one that has no replacement, or inline assembly. `checked`: copies and matrix loads are checked accesses.
Status replaceDeviceIntrinsics(llvm::Function &function, ServiceCalls &services, bool checked);

} // namespace dlc::codegen
