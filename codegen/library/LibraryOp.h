#pragma once

#include "dlc/ir/Rt.h"
#include "dlc/runtime/LibraryCall.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace dlc::codegen {

/// The op of a launch that a library does.
rt::LibraryOp createLibraryOp(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef symbol,
                              const LibraryCall &call);

/// What the op says, unchecked: the manifest's reader checks it against the kernel's operands.
LibraryCall libraryCallOf(rt::LibraryOp op);

/// A gpu.module's functions alone, a copy.
mlir::OwningOpRef<mlir::gpu::GPUModuleOp> functionsOf(mlir::gpu::GPUModuleOp kernels);

} // namespace dlc::codegen
