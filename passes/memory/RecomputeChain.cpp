#include "ChainPlan.h"
#include "Recompute.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace dlc;
using namespace dlc::passes;

/// Values below this share of the largest are kept anyway.
static constexpr int64_t smallShare = 64;

namespace {

/// The values that wait over the step with most bytes live, if each is made from the one before.
class WaitingChain {
public:
  WaitingChain(const KeptProgram &program, unsigned turn) : program(program), turn(turn) {
    int64_t largest = 0;
    for (unsigned value = 0; value < program.values.size(); ++value)
      if (isWaiting(value))
        largest = std::max(largest, program.values[value].bytes);
    for (unsigned value = 0; value < program.values.size(); ++value)
      if (isWaiting(value) && program.values[value].bytes * smallShare > largest)
        chain.push_back(value);
    llvm::sort(chain, [&](unsigned a, unsigned b) { return program.values[a].maker < program.values[b].maker; });
    for (auto [index, value] : llvm::enumerate(chain))
      numbers[value] = int(index);
  }

  /// Empty if it is none.
  std::vector<ChainLink> links() const {
    std::vector<ChainLink> list;
    for (auto [index, value] : llvm::enumerate(chain)) {
      std::optional<double> seconds = secondsOf(value);
      bool inOrder = index == 0 || lastUse(value) <= lastUse(chain[index - 1]);
      if (!seconds || !inOrder)
        return {};
      list.push_back({program.values[value].bytes, *seconds, 0});
    }
    addOthers(list);
    return list;
  }

  llvm::BitVector dropped(const std::vector<bool> &kept) const {
    llvm::BitVector set(program.values.size());
    for (auto [value, keep] : llvm::zip(chain, kept))
      if (!keep)
        set.set(value);
    return set;
  }

private:
  unsigned lastUse(unsigned value) const { return program.values[value].uses.back(); }
  bool isWaiting(unsigned value) const { return program.values[value].maker < turn && lastUse(value) > turn; }

  /// To make the value from the one before it; none where it needs another one, or cannot be made again.
  std::optional<double> secondsOf(unsigned value) const {
    if (program.values[value].pinned)
      return std::nullopt;
    double seconds = 0;
    llvm::DenseSet<unsigned> seen;
    std::vector<unsigned> open{program.values[value].maker};
    while (!open.empty()) {
      unsigned step = open.back();
      open.pop_back();
      if (!seen.insert(step).second)
        continue;
      if (program.steps[step].againUntil < int64_t(lastUse(value)))
        return std::nullopt;
      seconds += program.steps[step].seconds;
      for (unsigned read : program.steps[step].reads) {
        auto number = numbers.find(read);
        if (number == numbers.end())
          open.push_back(program.values[read].maker);
        else if (number->second + 1 != numbers.lookup(value))
          return std::nullopt;
      }
    }
    return seconds;
  }

  /// What else is live while the way back passes a link.
  void addOthers(std::vector<ChainLink> &links) const {
    std::vector<int64_t> change(program.steps.size() + 1, 0);
    for (unsigned value = 0; value < program.values.size(); ++value)
      if (!numbers.contains(value)) {
        change[program.values[value].maker] += program.values[value].bytes;
        change[lastUse(value) + 1] -= program.values[value].bytes;
      }
    int64_t others = 0;
    for (unsigned step = 0; step < program.steps.size(); ++step) {
      others += change[step];
      if (step < turn)
        continue;
      for (size_t link = links.size(); link-- > 0;)
        if (lastUse(chain[link]) >= step) {
          links[link].besides = std::max(links[link].besides, others + program.steps[step].workspace);
          break;
        }
    }
  }

  const KeptProgram &program;
  unsigned turn;
  std::vector<unsigned> chain; // values in the order in which they are made
  llvm::DenseMap<unsigned, int> numbers;
};

} // namespace

std::optional<Recomputation> dlc::passes::recomputeChain(const KeptProgram &program, int64_t budget) {
  unsigned turn = peakOf(program).first;
  WaitingChain chain(program, turn);
  std::vector<ChainLink> links = chain.links();
  std::optional<ChainPlan> plan = links.empty() ? std::nullopt : planChain(links, budget);
  return plan ? recomputeSet(program, chain.dropped(plan->kept), turn) : std::nullopt;
}
