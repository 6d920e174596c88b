#include "CollectiveOrder.h"

#include "Placement.h"

#include "dlc/ir/Storage.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

static constexpr unsigned none = ~0u;

dl::GroupKind CollectiveOrder::kindOf(unsigned index) const {
  dl::GroupOp group = groups[index];
  return group.getKind();
}

CollectiveOrder::CollectiveOrder(ArrayRef<dl::GroupOp> groups, Successors successorsOf) : groups(groups) {
  any = llvm::any_of(groups, [](dl::GroupOp group) { return group.isExchange(); });
  if (!any)
    return;
  urgency.assign(groups.size(), none);
  // Not once backwards: an edge may lead from a group to one in front of it, which only the schedule will move behind.
  SmallVector<unsigned> collectives;
  DenseMap<Operation *, SmallVector<unsigned>> predecessors;
  for (unsigned index = 0; index < groups.size(); ++index) {
    for (Operation *next : successorsOf(groups[index]))
      predecessors[next].push_back(index);
    if (kindOf(index) == dl::GroupKind::Collective)
      collectives.push_back(index);
  }
  // Collectives are in order, so who reaches a group first is the first that needs it.
  for (auto [number, collective] : llvm::enumerate(collectives)) {
    SmallVector<unsigned> reached{collective};
    while (!reached.empty()) {
      unsigned index = reached.pop_back_val();
      if (urgency[index] != none)
        continue;
      urgency[index] = number;
      llvm::append_range(reached, predecessors[groups[index]]);
    }
  }
}

unsigned CollectiveOrder::startOf(dl::GroupOp wait) const {
  unsigned last = 0;
  for (dl::GroupOp collective : collectivesOf(wait))
    last = std::max(last, started.lookup(collective));
  return last;
}

std::vector<unsigned>::iterator CollectiveOrder::choose(std::vector<unsigned> &ready,
                                                        llvm::function_ref<int64_t(dl::GroupOp)> growth) {
  if (any)
    if (auto start = llvm::find_if(ready, [&](unsigned i) { return kindOf(i) == dl::GroupKind::Collective; });
        start != ready.end()) {
      started.try_emplace(groups[*start], started.size());
      return start;
    }
  // What frees as much as it takes, give or take a scalar, runs at once; what no collective needs only if it frees
  // more.
  auto free = llvm::find_if(ready, [&](unsigned index) {
    int64_t most = any && urgency[index] == none ? -1 : dl::slotAlignment;
    return kindOf(index) != dl::GroupKind::Wait && growth(groups[index]) <= most;
  });
  if (free != ready.end())
    return free;
  if (!any)
    return ready.begin();
  auto rank = [&](unsigned index) {
    bool waits = kindOf(index) == dl::GroupKind::Wait;
    return std::tuple(waits, urgency[index], waits ? startOf(groups[index]) : 0, index);
  };
  return llvm::min_element(ready, [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
}
