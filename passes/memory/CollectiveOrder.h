#pragma once

#include "dlc/ir/Program.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace dlc::passes {

/// Which of the groups that could run does: collectives start as soon as their operands are there, and what a
/// collective waits for goes before what the next one waits for; a wait, with all that depends on it, comes when
/// nothing else is left to do. Without collectives the order of the program, but for what takes no memory.
class CollectiveOrder {
public:
  using Successors = llvm::function_ref<llvm::SmallVector<mlir::Operation *>(dl::GroupOp)>;

  /// `groups` in an order in which they could run.
  CollectiveOrder(llvm::ArrayRef<dl::GroupOp> groups, Successors successorsOf);

  /// One of `ready`, indices into the groups, ascending, which then runs; `growth` says how many bytes more are live
  /// after a group.
  std::vector<unsigned>::iterator choose(std::vector<unsigned> &ready, llvm::function_ref<int64_t(dl::GroupOp)> growth);

private:
  dl::GroupKind kindOf(unsigned index) const;
  /// When the collectives that a wait waits for had all started.
  unsigned startOf(dl::GroupOp wait) const;

  llvm::ArrayRef<dl::GroupOp> groups;
  bool any = false;
  std::vector<unsigned> urgency; ///< by group: number of the nearest collective that needs it; ~0: none
  llvm::DenseMap<mlir::Operation *, unsigned> started; ///< the how many-th a collective was that did
};

} // namespace dlc::passes
