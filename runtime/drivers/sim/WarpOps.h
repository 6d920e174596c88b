#pragma once

#include "dlc/runtime/SimAbi.h"

namespace dlc::sim {

// The operations of SimAbi.h in which the lanes of a warp meet.

void warpBarrier(DlcSimThread *, uint32_t mask);
uint64_t shuffle(DlcSimThread *, uint32_t mode, uint32_t mask, uint32_t value, uint32_t source, uint32_t clamp);
uint32_t vote(DlcSimThread *, uint32_t mode, uint32_t mask, uint32_t predicate);
uint32_t match(DlcSimThread *, uint32_t mask, uint32_t value);

} // namespace dlc::sim
