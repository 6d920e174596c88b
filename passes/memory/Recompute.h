#pragma once

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace dlc::passes {

/// Bytes that one step makes and later ones read.
struct KeptValue {
  int64_t bytes;
  unsigned maker;
  std::vector<unsigned> uses; ///< steps that read it, ascending
  bool pinned = false;        ///< stays where it is until its last use
};

/// A kernel, in the order in which they run.
struct KernelStep {
  double seconds = 0;
  int64_t workspace = 0;
  llvm::SmallVector<unsigned, 4> reads, makes; ///< values
  /// The input whose bytes each of `makes` takes over where it dies; -1: none.
  llvm::SmallVector<int64_t, 2> takesOver;
  /// The last step before which it can run again, as what else it reads is overwritten then; -1: never.
  int64_t againUntil = -1;
};

/// A program as rematerialization sees it.
struct KeptProgram {
  std::vector<KernelStep> steps;
  std::vector<KeptValue> values;
};

/// One run of a step.
struct KernelRun {
  unsigned step;
  bool again;
};

struct Recomputation {
  std::vector<KernelRun> runs; ///< every step once, in order, and between them those that run again
  int64_t peak = 0;            ///< bytes live at once
  double seconds = 0;          ///< of those that run again
};

/// Drops values from memory where the bytes would pass the budget and makes them again before they are read, and for
/// that what they are made from, if that is gone. Of the values at hand the one is dropped whose remaking costs least
/// time for its bytes and for the time until it is read. After M. Kirisame et al., "Dynamic Tensor Rematerialization",
/// ICLR 2021, but with the future known. None where the runs that are added take twice as long as the program.
std::optional<Recomputation> recomputeUnder(const KeptProgram &program, int64_t budget);

/// Drops the values given behind their last use before step `turn`, and makes them again before the next.
std::optional<Recomputation> recomputeSet(const KeptProgram &program, const llvm::BitVector &dropped, unsigned turn);

/// Where the values that wait over the step with most bytes live are a chain, each made from the one before and needed
/// in reverse order: drops those that an optimal plan (ChainPlan.h) does not keep. None where they are no chain, or no
/// plan keeps the budget.
std::optional<Recomputation> recomputeChain(const KeptProgram &program, int64_t budget);

/// What no choice goes below: the most that one step needs while it runs.
int64_t leastBytes(const KeptProgram &program);

/// The step with most bytes live, and these.
std::pair<unsigned, int64_t> peakOf(const KeptProgram &program);

} // namespace dlc::passes
