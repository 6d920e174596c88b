#pragma once

#include "drivers/cuda/CudaApi.h"

#include "dlc/runtime/DeviceId.h"

#include <string>
#include <string_view>

namespace dlc::gpucheck {

/// What a GPU says of itself.
struct Gpu {
  std::string name;
  int driver = 0;     ///< the newest CUDA it knows: 13000 is 13.0
  int capability = 0; ///< 90 of sm_90
  int multiprocessors = 0;
  double bytes = 0;
  double clock = 0;       ///< Hz, at most
  double memoryClock = 0; ///< Hz, at most
  double memoryBits = 0;  ///< that it moves at once

  static StatusOr<Gpu> ask(const runtime::CudaApi &api, const DeviceId &device);

  /// Bytes a second that the memory moves at most: two transfers a cycle (double data rate) over all of the bus.
  double peakBandwidth() const { return 2 * memoryClock * memoryBits / 8; }
  /// Floating-point operations a second at most, a multiplication with its addition as two: "f32" on ordinary units,
  /// "tf32", "f16" and "bf16" on tensor cores, without sparsity. 0: not known of this architecture.
  double peakArithmetic(std::string_view type) const;
};

} // namespace dlc::gpucheck
