#pragma once

#include <cstdint>

namespace dlc::codegen {

/// What kernel emitters know about the CPU. Only speed and workspace depend on it, never a bit of a result.
struct CpuTraits {
  int64_t vectorBytes = 32;              ///< 16, 32 or 64
  double serialNanoseconds = 6000;       ///< phases shorter than this run on the calling thread
  int64_t l1 = 32 << 10, l2 = 512 << 10; ///< data cache bytes of one core
  int64_t scratchBytes = 64 << 10;       ///< of a thread's scratch, for each use that a kernel could do without
};

} // namespace dlc::codegen
