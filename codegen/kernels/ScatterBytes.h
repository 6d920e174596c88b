#pragma once

#include "dlc/ir/Index.h"
#include "dlc/ir/Program.h"

namespace dlc::codegen {

/// Bytes of the f32 sums of a scatter whose result is of 16-bit floats; else 0.
int64_t scatterBytes(dl::GroupOp group, dl::ScatterOp op);

} // namespace dlc::codegen
