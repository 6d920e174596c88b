#pragma once

#include "dlc/runtime/Status.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace dlc::codegen {

/// PTX text of a module from translateGpu, which is left as it is. IEEE arithmetic: nothing is contracted, no
/// subnormal flushed, division and square root are rounded to nearest. Fails on an unknown `arch`, and when something
/// outside of the text is called.
StatusOr<std::string> emitPtx(const llvm::Module &module, llvm::StringRef arch);

/// Registers the pass `dlc-print-ptx`.
void registerCudaPasses();

} // namespace dlc::codegen
