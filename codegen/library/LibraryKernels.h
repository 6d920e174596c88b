#pragma once

#include "dlc/ir/Program.h"
#include "dlc/runtime/LibraryCall.h"
#include "gpu/GpuKernelBuilder.h"

#include <optional>
#include <string>

namespace dlc::codegen {

/// How a vendor's library does the work of a group's anchor.
struct LibraryPlan {
  LibraryCall call;
  /// A generated launch does the group's other ops, from the product at the start of the workspace; else the call
  /// writes the group's result itself.
  bool finish = false;
  mlir::Type element = {};    ///< of the product as it lies in memory
  int64_t count = 0;          ///< of its elements
  int64_t workspaceBytes = 0; ///< of the kernel
  mlir::Type factor = {};     ///< of the elements that are multiplied
  double multiplyAdds = 0;
};

/// The plan of a group of kind contract or window whose kernel a library is to make; nothing where dlc makes it. `why`,
/// if not null, gets what keeps a library from it that was asked for: "f64 elements".
std::optional<LibraryPlan> planLibrary(dl::GroupOp group, const GpuOptions &options, std::string *why = nullptr);

/// Emits the call, and the launch that finishes the group.
mlir::LogicalResult emitLibraryKernel(GpuKernelBuilder &kernel, dl::GroupOp group, const LibraryPlan &plan);

} // namespace dlc::codegen
