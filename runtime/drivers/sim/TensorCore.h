#pragma once

#include "dlc/runtime/SimAbi.h"

namespace dlc::sim {

// ldmatrix and mma.sync of SimAbi.h. Products are summed in f32, k by k: the hardware's rounding differs.

void loadMatrix(DlcSimThread *, const DlcSimSite *site, uint32_t *out, const void *row, uint32_t count,
                uint32_t transposed);
void multiply(DlcSimThread *, uint32_t product, float *out, const uint32_t *in);

} // namespace dlc::sim
