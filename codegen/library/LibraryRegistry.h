#pragma once

#include "kernels/OpRegistry.h"
#include "library/LibraryKernels.h"

namespace dlc::codegen {

/// What a library can do for an op.
struct LibraryFamily {
  /// The plan for a group with this anchor, whoever it is for; nothing, and why, where the library has no such call.
  std::optional<LibraryPlan> (*plan)(dl::GroupOp group, mlir::Operation *anchor, const GpuOptions &options,
                                     std::string &why) = nullptr;
  KernelMaker GpuOptions::*maker = nullptr; ///< the option that asks for it
  llvm::StringRef choice = {};              ///< its name in Choices.inc
};

/// Every family registers its ops.
class LibraryRegistry : public OpRegistry<LibraryFamily> {
public:
  explicit LibraryRegistry(mlir::MLIRContext *context);
};

constexpr int64_t kWorkspaceAlignment = 256;

/// Lays out the workspace: the product, if the plan has a launch that finishes it, then `bytes` for the library.
void planWorkspace(LibraryPlan &plan, dl::GroupOp group, int64_t bytes);

// The families, each in its own file.
#define DLC_LIBRARY_FAMILY(Name) void register##Name##Libraries(LibraryRegistry &registry);
#include "library/LibraryFamilies.inc"
#undef DLC_LIBRARY_FAMILY

} // namespace dlc::codegen
