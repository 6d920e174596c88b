#pragma once

#include "dlc/runtime/Status.h"
#include "targets/cpu/CpuTarget.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace dlc::codegen {

/// How kernels are compiled for the simulated device.
struct SimCodeOptions {
  bool check = false; ///< each access asks the engine first: bounds, races, memory nobody wrote
};

/// The host function of a kernel, a DlcSimKernel with hidden visibility.
std::string simKernelSymbol(llvm::StringRef kernel);

/// Turns LLVM IR for nvptx64 into the same kernels for the host: special registers, barriers and warp operations become
/// calls of DlcSimApi, shared variables places in the block's memory, and each kernel one `dlc_sim_<kernel>`. An error
/// names the first intrinsic or inline assembly that simulated devices lack.
Status retargetToSim(llvm::Module &module, const SimCodeOptions &options);

/// An object of the module's kernels for the host; its one undefined symbol is `kSimApiSymbol` of an image.
StatusOr<std::string> emitSimObject(std::unique_ptr<llvm::Module> module, const CpuTarget &target,
                                    const SimCodeOptions &options);

} // namespace dlc::codegen
