#include "drivers/sim/WarpOps.h"

#include "drivers/sim/AccessChecker.h"
#include "drivers/sim/SimBlock.h"

namespace dlc::sim {

static void nothing(Meeting &, int) {}

void warpBarrier(DlcSimThread *self, uint32_t mask) {
  SimThread &thread = simThread(self);
  SimBlock &block = *SimBlock::running();
  uint32_t none = 0;
  block.meet(thread, mask, &none, 0, [&](Meeting &meeting, int) {
    if (AccessChecker *checker = block.checker())
      checker->orderWarp(thread.warp(), meeting.mask);
  });
}

uint64_t shuffle(DlcSimThread *self, uint32_t mode, uint32_t mask, uint32_t value, uint32_t source, uint32_t clamp) {
  auto [meeting, side] = SimBlock::running()->meet(simThread(self), mask, &value, 1, nothing);
  // PTX, shfl.sync: operand c holds the mask of a segment above the bound within it.
  uint32_t lane = self->lane, bound = clamp & 31, segment = clamp >> 8 & 31, operand = source & 31;
  uint32_t first = lane & segment, last = first | (bound & ~segment);
  uint32_t from = 0;
  bool inRange = false;
  switch (mode) {
  case DLC_SIM_SHUFFLE_XOR:
    from = lane ^ operand;
    inRange = from <= last;
    break;
  case DLC_SIM_SHUFFLE_UP:
    from = lane - operand;
    inRange = int32_t(from) >= int32_t(last);
    break;
  case DLC_SIM_SHUFFLE_DOWN:
    from = lane + operand;
    inRange = from <= last;
    break;
  default:
    from = first | (operand & ~segment);
    inRange = from <= last;
  }
  if (!inRange)
    from = lane;
  return meeting.words[side][from][0] | uint64_t(inRange) << 32;
}

uint32_t vote(DlcSimThread *self, uint32_t mode, uint32_t mask, uint32_t predicate) {
  uint32_t word = predicate != 0;
  auto [meeting, side] = SimBlock::running()->meet(simThread(self), mask, &word, 1, [](Meeting &all, int turn) {
    uint32_t &ballot = all.results[turn][0][0] = 0;
    for (uint32_t lane = 0; lane < kWarpLanes; ++lane)
      if (all.mask >> lane & 1)
        ballot |= all.words[turn][lane][0] << lane;
  });
  uint32_t ballot = meeting.results[side][0][0];
  switch (mode) {
  case DLC_SIM_VOTE_ALL:
    return ballot == meeting.mask;
  case DLC_SIM_VOTE_ANY:
    return ballot != 0;
  case DLC_SIM_VOTE_EQUAL:
    return ballot == 0 || ballot == meeting.mask;
  default:
    return ballot;
  }
}

uint32_t match(DlcSimThread *self, uint32_t mask, uint32_t value) {
  auto [meeting, side] = SimBlock::running()->meet(simThread(self), mask, &value, 1, nothing);
  uint32_t same = 0;
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane)
    if (meeting.mask >> lane & 1)
      same |= uint32_t(meeting.words[side][lane][0] == value) << lane;
  return same;
}

} // namespace dlc::sim
