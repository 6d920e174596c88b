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
  // Groups one after the other from the start of the program up to each; by a stack, programs are deep.
  DenseMap<unsigned, unsigned> depths;
  for (unsigned collective : collectives) {
    SmallVector<unsigned> open{collective};
    while (!open.empty()) {
      unsigned index = open.back(), depth = 1;
      ArrayRef<unsigned> before = predecessors[groups[index]];
      size_t unknown = open.size();
      for (unsigned other : before) {
        auto known = depths.find(other);
        if (known == depths.end())
          open.push_back(other);
        else
          depth = std::max(depth, known->second + 1);
      }
      if (open.size() != unknown)
        continue;
      depths[index] = depth;
      open.pop_back();
    }
  }
  // The nearest comes first: a count that the backward pass divides by, then gradients as the pass reaches them.
  llvm::stable_sort(collectives, [&](unsigned a, unsigned b) { return depths.lookup(a) < depths.lookup(b); });
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
  // What frees as much as it takes, give or take a scalar.
  auto isFree = [&](unsigned index) { return growth(groups[index]) <= dl::slotAlignment; };
  if (!any) {
    auto free = llvm::find_if(ready, isFree);
    return free == ready.end() ? ready.begin() : free;
  }
  auto found = llvm::find_if(ready, [&](unsigned i) { return kindOf(i) == dl::GroupKind::Collective; });
  if (found != ready.end()) {
    started.try_emplace(groups[*found], started.size());
    return found;
  }
  // What no collective needs goes first if it frees memory, and late if not.
  found = llvm::find_if(ready, [&](unsigned i) {
    return kindOf(i) != dl::GroupKind::Wait && urgency[i] == none && growth(groups[i]) < 0;
  });
  if (found != ready.end())
    return found;
  auto rank = [&](unsigned index) {
    bool waits = kindOf(index) == dl::GroupKind::Wait;
    return std::tuple(waits, urgency[index], waits ? startOf(groups[index]) : unsigned(!isFree(index)), index);
  };
  return llvm::min_element(ready, [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
}
