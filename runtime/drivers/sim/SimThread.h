#pragma once

#include "dlc/runtime/SimAbi.h"
#include "drivers/sim/Fiber.h"

#include <cstdint>
#include <vector>

namespace dlc {

/// cp.async: what has been asked for and not yet done.
struct AsyncCopy {
  const DlcSimSite *site; // null: not checked
  void *to;
  const void *from;
  uint32_t bytes, sourceBytes;
};

/// One thread of a simulated block. It is born without a fiber and gets one when its turn comes.
struct SimThread : DlcSimThread {
  uint32_t index = 0; ///< in the block, x fastest; index % 32 is the lane
  bool done = false;
  Fiber *fiber = nullptr;
  const uint64_t *waitsFor = nullptr; ///< parked as long as *waitsFor == seen
  uint64_t seen = 0;
  std::vector<AsyncCopy> uncommitted;
  std::vector<std::vector<AsyncCopy>> committed;

  uint32_t warp() const { return index / 32; }
  bool parked() const { return waitsFor && *waitsFor == seen; }
};

inline SimThread &simThread(DlcSimThread *thread) { return *static_cast<SimThread *>(thread); }

} // namespace dlc
