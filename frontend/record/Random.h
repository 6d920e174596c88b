#pragma once

#include "record/Recording.h"

namespace dlc::record {

/// What names a random operation: the generator's seed and the operation's ordinal, i64 of rank 0.
struct RandomOperands {
  ValueRef seed, offset;
};

/// Of the next random operation. In a recording they are counted from where each call finds the generator, so that
/// calls draw anew without compiling anew.
RandomOperands nextRandom(const std::source_location &where);

} // namespace dlc::record
