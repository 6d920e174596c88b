#pragma once

#include "record/Recording.h"

namespace dlc::record {

/// What names a random operation: the generator's seed and the operation's ordinal, i64 of rank 0.
struct RandomOperands {
  ValueRef seed, offset;
};

/// Of the first of the next `count` random operations. In a recording they are counted from where each call finds the
/// generator, so that calls draw anew without compiling anew, and in a loop's body from where each step does.
RandomOperands nextRandom(const std::source_location &where, uint64_t count = 1);

/// How many there were, in the innermost loop's body or else of the generator; of two branches the longer one counts.
uint64_t drawnSoFar();
void setDrawnSoFar(uint64_t count);

} // namespace dlc::record
