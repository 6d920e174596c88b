#pragma once

#include "dlc/runtime/Communicator.h"

#include <span>

namespace dlc::runtime {

/// Reduces `count` elements of several members into `out`, in the order that all engines share:
/// ((0 1) (2 3)) ((4 5) 6), a pair of the binary tree over member numbers at a time. `out` may be one of the inputs,
/// and overlaps none otherwise.
void treeReduce(DType type, Reduce reduce, std::span<const void *const> inputs, void *out, int64_t count);

} // namespace dlc::runtime
