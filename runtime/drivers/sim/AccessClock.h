#pragma once

#include <cstdint>
#include <vector>

namespace dlc {

/// When a thread touched a byte: its block's phase between barriers, and its warp's between warp barriers. Phases are
/// numbers of the whole process, each used once: blocks and launches are checked one after another.
struct AccessStamp {
  uint64_t phase = 0; ///< 0: never
  uint32_t warpPhase = 0;
  uint16_t thread = 0; ///< index in its block
  bool atomic = false;
};

/// Says which accesses are ordered by barriers. Only `bar.sync` and `bar.warp.sync` order memory; shuffles do not.
class AccessClock {
public:
  void beginLaunch() { launchBegin_ = phase_ = nextPhase(); }
  void beginBlock(uint32_t threads);
  void barrier() { phase_ = nextPhase(); }
  void warpBarrier(uint32_t warp, uint32_t mask);

  AccessStamp now(uint32_t thread, bool atomic) const;
  bool ofThisLaunch(const AccessStamp &stamp) const { return stamp.phase >= launchBegin_; }
  bool ofThisBlock(const AccessStamp &stamp) const { return stamp.phase >= blockBegin_; }
  /// Whether the stamped access is over before anything `thread` does now. Accesses of earlier launches are.
  bool ordered(const AccessStamp &before, uint32_t thread) const {
    if (!ofThisLaunch(before))
      return true;
    if (!ofThisBlock(before))
      return false; // nothing orders two blocks of a grid
    return before.phase < phase_ || before.thread == thread || orderedInWarp(before, thread);
  }

private:
  bool orderedInWarp(const AccessStamp &before, uint32_t thread) const;
  static constexpr uint32_t kLanes = 32;
  struct Warp {
    uint32_t phase = 0, whole = 0;  ///< of the last barrier, and of the last that all 32 lanes took part in
    std::vector<uint32_t> together; ///< by pair of lanes: the last barrier of both; empty: only whole ones
  };

  static uint64_t nextPhase();

  uint64_t phase_ = 0, launchBegin_ = 0, blockBegin_ = 0;
  std::vector<Warp> warps_;
};

} // namespace dlc
