#include "ChainPlan.h"

#include "llvm/ADT/STLExtras.h"

using namespace dlc;
using namespace dlc::passes;

namespace {

/// One way to keep links of a prefix, the last of it among them.
struct Choice {
  int64_t bytes;  // of the kept ones
  double seconds; // of making the others again
  int previous;   // kept link before, -1 for the start; and which of its choices
  unsigned from;
};

/// Choices of which none is as good as another in both.
void addUnlessWorse(std::vector<Choice> &choices, Choice added) {
  for (const Choice &known : choices)
    if (known.bytes <= added.bytes && known.seconds <= added.seconds)
      return;
  llvm::erase_if(choices,
                 [&](const Choice &known) { return added.bytes <= known.bytes && added.seconds <= known.seconds; });
  choices.push_back(added);
}

} // namespace

// Between two kept links lies a segment. Its links, and all kept ones before it, are live when the way back reaches it.
std::optional<ChainPlan> dlc::passes::planChain(llvm::ArrayRef<ChainLink> links, int64_t budget) {
  int count = int(links.size());
  std::vector<std::vector<Choice>> choices(links.size() + 1); // by last kept link, shifted by one
  choices[0].push_back({0, 0, -1, 0});
  for (int first = 0; first < count; ++first) {
    int64_t segment = 0, most = 0;
    double seconds = 0;
    for (int next = first; next < count; ++next) {
      // Links [first, next) are not kept, `next` is.
      segment += links[next].bytes;
      most = 0;
      int64_t live = segment;
      for (int link = next; link >= first; --link) {
        most = std::max(most, live + links[link].besides);
        live -= links[link].bytes;
      }
      for (auto [index, choice] : llvm::enumerate(choices[first]))
        if (choice.bytes + most <= budget)
          addUnlessWorse(choices[next + 1],
                         {choice.bytes + links[next].bytes, choice.seconds + seconds, first - 1, unsigned(index)});
      seconds += links[next].seconds;
    }
  }
  const Choice *best = nullptr;
  for (const Choice &choice : choices[count])
    if (!best || choice.seconds < best->seconds || (choice.seconds == best->seconds && choice.bytes < best->bytes))
      best = &choice;
  if (!best)
    return std::nullopt;
  ChainPlan plan{std::vector<bool>(links.size(), false), best->seconds};
  for (int link = count - 1; link >= 0;) {
    plan.kept[link] = true;
    int previous = best->previous;
    best = &choices[previous + 1][best->from];
    link = previous;
  }
  return plan;
}
