#include "Packing.h"

#include "dlc/ir/Storage.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>

using namespace dlc;
using namespace dlc::passes;

static int64_t rounded(const Interval &interval) { return llvm::alignTo(interval.bytes, dl::slotAlignment); }

/// Places one after the other; each into the smallest gap that holds it.
static Packing packInOrder(llvm::ArrayRef<Interval> intervals, llvm::ArrayRef<unsigned> order) {
  Packing packing;
  packing.offsets.resize(intervals.size());
  std::vector<unsigned> placed; // by offset
  for (unsigned index : order) {
    const Interval &interval = intervals[index];
    int64_t size = rounded(interval), best = -1, bestGap = INT64_MAX, end = 0;
    for (unsigned other : placed) {
      const Interval &neighbour = intervals[other];
      if (neighbour.end < interval.start || interval.end < neighbour.start)
        continue;
      int64_t gap = packing.offsets[other] - end;
      if (gap >= size && gap < bestGap) {
        bestGap = gap;
        best = end;
      }
      end = std::max(end, packing.offsets[other] + rounded(neighbour));
    }
    int64_t offset = best < 0 ? end : best;
    packing.offsets[index] = offset;
    packing.bytes = std::max(packing.bytes, offset + size);
    auto after =
        llvm::upper_bound(placed, offset, [&](int64_t at, unsigned other) { return at < packing.offsets[other]; });
    placed.insert(after, index);
  }
  return packing;
}

/// The best of repetitions, each with what reached the top before placed first.
static Packing packRepeatedly(llvm::ArrayRef<Interval> intervals, std::vector<unsigned> order, int64_t bound) {
  constexpr unsigned most = 32;
  // Each repetition takes quadratic time.
  constexpr size_t worthTime = 500;
  Packing last = packInOrder(intervals, order), best = last;
  for (unsigned i = 0; i < most && best.bytes > bound && intervals.size() <= worthTime; ++i) {
    auto reachesTop = [&](unsigned index) { return last.offsets[index] + rounded(intervals[index]) == last.bytes; };
    std::vector<unsigned> next;
    std::copy_if(order.begin(), order.end(), std::back_inserter(next), reachesTop);
    std::remove_copy_if(order.begin(), order.end(), std::back_inserter(next), reachesTop);
    order = std::move(next);
    last = packInOrder(intervals, order);
    if (last.bytes < best.bytes)
      best = last;
  }
  return best;
}

Packing dlc::passes::pack(llvm::ArrayRef<Interval> intervals) {
  int64_t bound = liveBound(intervals);
  auto packBy = [&](auto key) {
    std::vector<unsigned> order(intervals.size());
    for (unsigned i = 0; i < order.size(); ++i)
      order[i] = i;
    llvm::sort(order, [&](unsigned a, unsigned b) {
      auto left = key(intervals[a]), right = key(intervals[b]);
      return left != right ? left > right : a < b;
    });
    return packRepeatedly(intervals, std::move(order), bound);
  };
  auto duration = [](const Interval &i) { return i.end - i.start + 1; };
  Packing best = packBy([](const Interval &i) { return i.bytes; });
  for (const Packing &other :
       {packBy([&](const Interval &i) { return double(i.bytes) * duration(i); }),
        packBy([&](const Interval &i) { return duration(i); }), packBy([](const Interval &i) { return -i.start; })})
    if (other.bytes < best.bytes)
      best = other;
  return best;
}

int64_t dlc::passes::liveBound(llvm::ArrayRef<Interval> intervals, int64_t *position) {
  std::map<int64_t, int64_t> change;
  for (const Interval &interval : intervals) {
    change[interval.start] += rounded(interval);
    change[interval.end + 1] -= rounded(interval);
  }
  int64_t live = 0, most = 0;
  for (auto [at, delta] : change) {
    live += delta;
    if (live > most) {
      most = live;
      if (position)
        *position = at;
    }
  }
  return most;
}
