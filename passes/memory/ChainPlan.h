#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace dlc::passes {

/// A value of a chain: each is made from the one before, and needed again, the last one first, by the way back.
struct ChainLink {
  int64_t bytes;
  double seconds;      ///< to make it from the one before
  int64_t besides = 0; ///< bytes of other things that are live where it is needed again
};

struct ChainPlan {
  std::vector<bool> kept; ///< of each link, whether it stays in memory until the way back needs it
  double seconds = 0;     ///< of making the others again
};

/// The links to keep so that no more than `budget` bytes are live on the way back, at the least time. Links that are
/// not kept are made again from the last kept one before them (the start of the chain is there at any time), all at
/// once where the way back reaches the kept one behind them; the last link is always kept. A link is live until the way
/// back has passed it. None: no choice fits. Optimal; time grows with the number of choices none of which is better
/// than another in both bytes and time.
std::optional<ChainPlan> planChain(llvm::ArrayRef<ChainLink> links, int64_t budget);

} // namespace dlc::passes
