#pragma once

#include "dlc/runtime/Status.h"

#include <cstdint>
#include <string>

namespace dlc::codegen {

/// A CPU to generate code for, in LLVM's terms, and what shapes kernels.
struct CpuTarget {
  std::string cpu;      ///< for example "x86-64-v3", "znver3"
  std::string features; ///< "+avx2,-avx512f,…" on top of `cpu`
  int vectorBytes = 32;
  int64_t l1 = 32 << 10, l2 = 512 << 10; ///< data cache bytes of one core

  /// The machine this runs on; an error when it lacks x86-64-v3 (AVX2, FMA, F16C).
  static StatusOr<CpuTarget> host();
  static CpuTarget x86_64_v3();
  static CpuTarget x86_64_v4();
};

} // namespace dlc::codegen
