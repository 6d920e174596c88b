#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace dlc::codegen {

/// An architecture kernels are compiled for, and what a multiprocessor of it holds (CUDA C++ Programming Guide,
/// technical specifications per compute capability).
struct CudaArch {
  llvm::StringRef name;
  llvm::StringRef features; ///< the oldest PTX version that knows it, which the oldest drivers for it read
  int64_t warps, blocks;
  int64_t registers, registersUnit, warpsUnit;          ///< a warp's registers come in units, warps in groups
  int64_t sharedBytes, sharedUnit, reservedSharedBytes; ///< reserved: by the system for each block
};

/// sm_80, sm_90, sm_100.
llvm::ArrayRef<CudaArch> cudaArchs();
/// Null when there is none of this name.
const CudaArch *findCudaArch(llvm::StringRef name);

} // namespace dlc::codegen
