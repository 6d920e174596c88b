#pragma once

#include "dlc/runtime/Status.h"
#include "drivers/sim/SimKernel.h"
#include "drivers/sim/SimOptions.h"
#include "drivers/sim/SimThread.h"

#include <bit>
#include <cstring>
#include <random>

namespace dlc {

class AccessChecker;

constexpr uint32_t kWarpLanes = 32;
constexpr uint32_t kMaxBlockThreads = 1024; // as on every device so far

/// One launch, as the blocks of its grid see it.
struct SimLaunch {
  const SimKernel *kernel;
  void *const *pointers;
  const SimOptions *options;
  AccessChecker *checker; ///< null: accesses are not checked
};

/// Lanes of one warp that meet under one mask: each brings words and reads what the others brought.
struct Meeting {
  static constexpr uint32_t kWords = 10, kResults = 4;
  uint32_t mask = 0, arrived = 0;
  uint64_t phase = 0; ///< how often all have come
  // Two sides: a lane may come again before the others have read, but the third time needs all of them to have come.
  uint32_t words[2][kWarpLanes][kWords], results[2][kWarpLanes][kResults];
};

/// Runs blocks of a grid one after another on the calling thread. The block's threads are fibers: a thread that waits
/// for others parks, and a thread that never waits costs no switch, since the same fiber goes on with the next thread.
class SimBlock {
public:
  SimBlock() = default;
  SimBlock(const SimBlock &) = delete;
  SimBlock &operator=(const SimBlock &) = delete;

  /// Runs block `index` (x fastest) of the launch. The first error of any of its threads ends it.
  Status run(const SimLaunch &launch, uint64_t index);

  // What the services of a running thread use.

  /// The block that runs on this thread of the host.
  static SimBlock *running() { return running_; }
  SimThread &current() { return *current_; }
  AccessChecker *checker() const { return launch_.checker; }
  bool eagerCopies() const { return launch_.options->copy == SimCopy::Eager; }
  void *shared(uint64_t bytes);
  const char *sharedBegin() const { return sharedBase_; }
  uint64_t sharedBytes() const { return sharedBytes_; }
  void barrier(SimThread &thread, const DlcSimSite *site);
  /// Makes this message about the thread the launch's error; the thread must abandon() next. Apart from that, so that
  /// no text is left on its stack.
  void report(const SimThread &thread, const std::string &message);
  [[noreturn]] static void abandon(SimThread &thread) { thread.fiber->abandon(); }

  /// Waits for all lanes of `mask`, each bringing `count` words. The last one calls finish(meeting, side) for all.
  /// Returns the meeting, and the side of it to read.
  template <typename Finish>
  std::pair<Meeting &, int> meet(SimThread &thread, uint32_t mask, const uint32_t *words, uint32_t count,
                                 Finish finish) {
    Meeting &meeting = meetingOf(thread, mask);
    uint64_t phase = meeting.phase;
    int side = int(phase & 1);
    std::memcpy(meeting.words[side][thread.lane], words, count * sizeof(uint32_t));
    meeting.arrived |= 1u << thread.lane;
    if (meeting.arrived == meeting.mask) {
      finish(meeting, side);
      meeting.arrived = 0;
      ++meeting.phase;
    } else {
      park(thread, meeting.phase);
    }
    return {meeting, side};
  }

private:
  void begin(const SimLaunch &launch, uint64_t index);
  void arrange();
  bool sweep(size_t first, size_t last);
  bool resume(SimThread &thread);
  void endRound(bool progress);
  void dropFibers();
  Fiber *freshFiber();
  static void runThreads(void *block);
  Meeting &meetingOf(SimThread &thread, uint32_t mask);
  void park(SimThread &thread, const uint64_t &counter);
  Status describe(const SimThread *thread, const std::string &message) const;

  static thread_local SimBlock *running_;

  SimLaunch launch_{};
  uint32_t count_ = 0; // threads of the block
  std::vector<SimThread> threads_;
  std::vector<uint32_t> order_;
  std::mt19937_64 random_;
  SimThread *current_ = nullptr;
  size_t cursor_ = 0, sweepEnd_ = 0;

  uint32_t alive_ = 0, atBarrier_ = 0;
  uint64_t barrierPhase_ = 0;
  const DlcSimSite *barrierSite_ = nullptr;
  std::vector<Meeting> meetings_[kMaxBlockThreads / kWarpLanes];

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber *> idleFibers_;
  bool failed_ = false;
  Status error_;

  std::vector<char> sharedMemory_;
  char *sharedBase_ = nullptr;
  uint64_t sharedBytes_ = 0;
};

} // namespace dlc
