#pragma once

#include "dlc/runtime/SimAbi.h"
#include "drivers/sim/GlobalShadow.h"
#include "drivers/sim/SimKernel.h"
#include "drivers/sim/SimThread.h"

#include <string>

namespace dlc {

class SimBlock;

/// Finds wrong accesses of kernels that were compiled with checks: outside the operand or shared variable a pointer
/// derives from, of memory that nobody wrote, and two threads at one byte, one of them writing, with nothing that
/// orders them. Blocks are checked one after another on one thread.
class AccessChecker {
public:
  /// Starts a launch. Operands that `memory` does not know count as written when the kernel reads them.
  void beginLaunch(const SimKernel &kernel, void *const *pointers, GlobalShadow &memory);
  void beginBlock(SimBlock &block, uint64_t index);
  /// The block's shared memory.
  void setShared(char *base, uint64_t bytes);

  /// All threads of the block have met.
  void orderBlock() { clock_.barrier(); }
  /// Lanes of a warp have met in a barrier.
  void orderWarp(uint32_t warp, uint32_t mask) { clock_.warpBarrier(warp, mask); }

  /// An access that is about to happen; ends the launch when it must not.
  void access(SimThread &thread, const DlcSimSite &site, const void *pointer, uint64_t bytes);
  /// An asynchronous copy into shared memory: from its begin to the wait for it, nobody else may touch the bytes.
  void beginCopy(SimThread &thread, const DlcSimSite &site, const void *to, uint64_t bytes);
  void finishCopy(SimThread &thread, const DlcSimSite &site, const void *to, uint64_t bytes);

private:
  struct Operand {
    const char *base;
    uint64_t bytes;
    SimAccess access;
    ShadowRange shadow;
  };
  /// An access, and what is known about its memory.
  struct Place {
    const DlcSimSite *site = nullptr;
    int64_t operand = -1; ///< -1: none, or shared memory
    int64_t offset = 0;   ///< in the operand or variable
    uint64_t bytes = 0, extent = 0;
    ShadowRange shadow = {}; ///< of the first byte; may be unknown
    bool shared() const { return site->space == DLC_SIM_SHARED; }
  };

  bool locate(const DlcSimSite &site, const char *pointer, Place &place) const;
  bool isOutside(const Place &place) const;
  /// The access that this one conflicts with at a byte, or null.
  const AccessStamp *findRace(const SimThread &thread, const Place &place, const ShadowCell &cell) const;
  /// Index of the first byte that must not be touched, or the number of bytes.
  uint64_t firstWrong(const SimThread &thread, const Place &place) const;
  void record(const SimThread &thread, const Place &place);

  std::string nameOf(const Place &place) const;
  std::string nameOf(const AccessStamp &stamp, uint32_t block) const;
  std::string describeOutside(const Place &place) const;
  std::string describeUnaligned(const Place &place) const;
  std::string describeWrong(const SimThread &thread, const Place &place, uint64_t byte) const;

  AccessClock clock_;
  SimBlock *block_ = nullptr;
  uint32_t blockIndex_ = 0;
  const SimKernel *kernel_ = nullptr;
  std::vector<Operand> operands_;

  const char *shared_ = nullptr;
  uint64_t sharedBytes_ = 0;
  std::vector<ShadowCell> sharedCellMemory_;
  std::vector<uint8_t> sharedWrittenMemory_;
  ShadowCell *sharedCells_ = nullptr;
  uint8_t *sharedWritten_ = nullptr; ///< 1: holds a value; 2: an asynchronous copy that nobody has waited for
};

} // namespace dlc
