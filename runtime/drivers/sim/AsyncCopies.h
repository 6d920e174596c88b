#pragma once

#include "dlc/runtime/SimAbi.h"

namespace dlc::sim {

// cp.async of SimAbi.h.

void copyAsync(DlcSimThread *, const DlcSimSite *site, void *to, const void *from, uint32_t bytes,
               uint32_t sourceBytes);
void commitCopies(DlcSimThread *);
void waitCopies(DlcSimThread *, uint32_t pending);

} // namespace dlc::sim
