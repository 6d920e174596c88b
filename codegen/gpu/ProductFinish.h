#pragma once

#include "gpu/GpuKernelBuilder.h"
#include "kernels/Epilogue.h"

namespace dlc::codegen {

/// Sums at the start of the kernel's workspace, one behind the other: `parts` for each of `count` elements of a
/// product.
struct ProductParts {
  mlir::Type element;
  int64_t count = 0, parts = 1;
  mlir::Type narrow = {}; ///< of f32: the type of 16 bits in memory, if that is one
};

/// Emits a launch that adds each element's parts in order, from the first one on, and gives it to `epilogue`.
void emitProductFinish(GpuKernelBuilder &kernel, const ProductParts &product, Epilogue &epilogue);

} // namespace dlc::codegen
