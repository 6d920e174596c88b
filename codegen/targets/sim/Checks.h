#pragma once

#include "dlc/runtime/Status.h"
#include "targets/sim/ServiceCalls.h"

namespace dlc::codegen {

/// Makes every load, store, atomic and copy of a function ask `access` of DlcSimApi first.
Status insertAccessChecks(llvm::Function &function, ServiceCalls &services);

/// The same for one range; nothing for the thread's own memory and for constants.
void insertAccessCheck(llvm::Instruction &before, ServiceCalls &services, DlcSimAccess access, llvm::Value *pointer,
                       llvm::Value *bytes, llvm::Align alignment);

} // namespace dlc::codegen
