#pragma once

#include "dlc/ir/Program.h"

namespace dlc::passes {

/// What the kernel of a group takes on one core, as a model says: it moves its operands and results through memory, or
/// computes, whichever is longer. Only how groups compare counts, not the number.
double estimatedSeconds(dl::GroupOp group);

} // namespace dlc::passes
