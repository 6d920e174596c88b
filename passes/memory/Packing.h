#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace dlc::passes {

/// Bytes that must keep their place in schedule positions [start, end], both included.
struct Interval {
  int64_t bytes;
  int64_t start, end;
};

struct Packing {
  std::vector<int64_t> offsets; ///< multiples of the alignment, one an interval
  int64_t bytes = 0;            ///< of the whole arena
};

/// Places intervals so that no two that are live together overlap. Greedy best fit in several orders; the smallest is
/// kept.
Packing pack(llvm::ArrayRef<Interval> intervals);

/// Most bytes live at one position: no packing can be smaller. `position`, if given, receives where.
int64_t liveBound(llvm::ArrayRef<Interval> intervals, int64_t *position = nullptr);

} // namespace dlc::passes
