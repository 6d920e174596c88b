#include "drivers/sim/AccessClock.h"

#include <algorithm>
#include <atomic>

namespace dlc {

uint64_t AccessClock::nextPhase() {
  static std::atomic<uint64_t> last{0}; // memory outlives the engine that stamped it
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void AccessClock::beginBlock(uint32_t threads) {
  blockBegin_ = phase_ = nextPhase();
  warps_.assign((threads + kLanes - 1) / kLanes, Warp());
}

void AccessClock::warpBarrier(uint32_t warp, uint32_t mask) {
  Warp &state = warps_[warp];
  ++state.phase;
  if (mask == ~0u) {
    state.whole = state.phase;
    return;
  }
  state.together.resize(size_t(kLanes) * kLanes);
  for (uint32_t one = 0; one < kLanes; ++one)
    for (uint32_t other = 0; other < kLanes; ++other)
      if (mask >> one & mask >> other & 1)
        state.together[one * kLanes + other] = state.phase;
}

AccessStamp AccessClock::now(uint32_t thread, bool atomic) const {
  return {phase_, warps_[thread / kLanes].phase, uint16_t(thread), atomic};
}

bool AccessClock::orderedInWarp(const AccessStamp &before, uint32_t thread) const {
  if (before.thread / kLanes != thread / kLanes)
    return false;
  const Warp &warp = warps_[thread / kLanes];
  uint32_t last = warp.whole;
  if (!warp.together.empty())
    last = std::max(last, warp.together[before.thread % kLanes * kLanes + thread % kLanes]);
  return last > before.warpPhase;
}

} // namespace dlc
