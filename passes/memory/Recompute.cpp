#include "Recompute.h"

#include "llvm/ADT/STLExtras.h"
#include <cassert>

using namespace dlc;
using namespace dlc::passes;

static constexpr double never = std::numeric_limits<double>::infinity();
/// More added time than this share of the program's is no solution.
static constexpr double mostTime = 2;
/// Values looked at before a search is given up: some seconds, for programs of thousands of steps alone.
static constexpr int64_t mostWork = 20'000'000;
/// Values this much smaller than what is made from them are held rather than made again too.
static constexpr int64_t smallShare = 16;
/// Steps between a value and one that is made from it.
static constexpr unsigned deepest = 4;

namespace {

/// Runs the program in thought.
class Simulation {
public:
  Simulation(const KeptProgram &program, int64_t budget, const llvm::BitVector *dropped = nullptr, unsigned turn = 0)
      : program(program), budget(budget), dropped(dropped), turn(turn), there(program.values.size()),
        locks(program.values.size()), held(program.values.size(), -1), walked(program.steps.size()) {
    double time = 0;
    for (const KernelStep &step : program.steps) {
      times.push_back(time);
      time += step.seconds;
    }
    times.push_back(time);
  }

  std::optional<Recomputation> run() {
    for (unsigned step = 0; step < program.steps.size(); ++step)
      if (!runOnce(step) || result.seconds > mostTime * times.back() || work > mostWork)
        return std::nullopt;
    return std::move(result);
  }
  unsigned peakStep() const { return peakAt; }
  /// Whether what has been made again waits for other values that are made from it.
  void share(bool waits) { shares = waits; }

private:
  /// The first step from `from` on that reads the value; none.
  std::optional<unsigned> nextUse(unsigned value, unsigned from) const {
    const std::vector<unsigned> &uses = program.values[value].uses;
    auto found = llvm::lower_bound(uses, from);
    if (found != uses.end())
      return *found;
    return held[value] >= int64_t(from) ? std::optional<unsigned>(held[value]) : std::nullopt;
  }
  int64_t lastUse(unsigned value) const {
    const std::vector<unsigned> &uses = program.values[value].uses;
    return std::max(uses.empty() ? int64_t(-1) : int64_t(uses.back()), held[value]);
  }

  void put(unsigned value) {
    if (!there[value])
      live += program.values[value].bytes;
    there[value] = true;
  }
  void drop(unsigned value) {
    if (there[value])
      live -= program.values[value].bytes;
    there[value] = false;
  }

  void notePeak(int64_t more, unsigned now) {
    if (live + more > result.peak) {
      result.peak = live + more;
      peakAt = now;
    }
  }

  bool runOnce(unsigned now) {
    const KernelStep &step = program.steps[now];
    for (unsigned value : step.reads)
      ++locks[value];
    for (unsigned value : step.reads)
      if (!there[value] && !make(value, now))
        return false;
    int64_t more = step.workspace;
    for (auto [value, over] : llvm::zip(step.makes, step.takesOver)) {
      bool dies = over >= 0 && there[over] && lastUse(over) <= int64_t(now);
      more += dies ? 0 : program.values[value].bytes;
    }
    makeRoom(more, now);
    notePeak(more, now);
    result.runs.push_back({now, false});
    for (unsigned value : step.makes)
      put(value);
    for (unsigned value : step.reads)
      --locks[value];
    for (llvm::ArrayRef<unsigned> list : {llvm::ArrayRef(step.reads), llvm::ArrayRef(step.makes)})
      for (unsigned value : list)
        leave(value, now);
    for (unsigned value : holding)
      if (!nextUse(value, now + 1))
        drop(value);
    llvm::erase_if(holding, [&](unsigned value) { return held[value] <= int64_t(now); });
    return true;
  }

  /// After a step: what nobody needs any more goes, and what is to be dropped.
  void leave(unsigned value, unsigned now) {
    std::optional<unsigned> next = nextUse(value, now + 1);
    if (!next || (dropped && dropped->test(value) && now < turn && *next > turn))
      drop(value);
  }

  /// Runs the value's step again.
  bool make(unsigned value, unsigned now) {
    unsigned maker = program.values[value].maker;
    const KernelStep &step = program.steps[maker];
    if (step.againUntil < int64_t(now))
      return false;
    for (unsigned read : step.reads)
      ++locks[read];
    for (unsigned read : step.reads)
      if (!there[read] && !make(read, now))
        return false;
    int64_t more = step.workspace;
    for (unsigned made : step.makes)
      more += program.values[made].bytes;
    makeRoom(more, now);
    notePeak(more, now);
    result.runs.push_back({maker, true});
    result.seconds += step.seconds;
    for (unsigned made : step.makes)
      if (made == value || nextUse(made, now))
        put(made);
    for (unsigned read : step.reads) {
      --locks[read];
      holdForOthers(read, now);
      if (!locks[read] && !nextUse(read, now))
        drop(read);
    }
    return result.seconds <= mostTime * times.back();
  }

  /// What has been made again stays while other dropped values that are made from it are still to come.
  void holdForOthers(unsigned value, unsigned now) {
    if (std::optional<unsigned> until = shares ? nextMadeFrom(value, now, deepest) : std::nullopt)
      hold(value, *until);
  }

  /// The last of the steps for which dropped values will be made from this one.
  std::optional<unsigned> nextMadeFrom(unsigned value, unsigned now, unsigned depth) const {
    std::optional<unsigned> last;
    for (unsigned step : program.values[value].uses) {
      if (step >= now || depth == 0)
        break;
      for (unsigned made : program.steps[step].makes) {
        if (there[made])
          continue;
        std::optional<unsigned> next = nextUse(made, now);
        if (!next)
          next = nextMadeFrom(made, now, depth - 1);
        if (next && (!last || *next > *last))
          last = next;
      }
    }
    return last;
  }

  void hold(unsigned value, unsigned until) {
    held[value] = std::max(held[value], int64_t(until));
    holding.push_back(value);
  }

  /// Seconds to make the value again for step `then`, with what will be gone by then; `most` or more: too many.
  double costOf(unsigned value, unsigned then, double most) {
    ++walk;
    return costOnWalk(value, then, most);
  }
  double costOnWalk(unsigned value, unsigned then, double most) {
    unsigned maker = program.values[value].maker;
    const KernelStep &step = program.steps[maker];
    ++work;
    if (step.againUntil < int64_t(then))
      return never;
    if (walked[maker] == walk)
      return 0;
    walked[maker] = walk;
    double seconds = step.seconds;
    for (unsigned read : step.reads) {
      if (there[read] && (lastUse(read) >= int64_t(then) || canHold(read, value)))
        continue;
      if (seconds >= most)
        break;
      seconds += costOnWalk(read, then, most - seconds);
    }
    return seconds;
  }

  bool canHold(unsigned read, unsigned value) const {
    return program.values[read].bytes * smallShare <= program.values[value].bytes;
  }

  void makeRoom(int64_t more, unsigned now) {
    while (!dropped && live + more > budget && work <= mostWork) {
      work += int64_t(program.values.size());
      int best = -1;
      double least = never;
      for (unsigned value = 0; value < program.values.size(); ++value) {
        if (!there[value] || locks[value] || program.values[value].pinned)
          continue;
        std::optional<unsigned> next = nextUse(value, now + 1);
        if (!next || *next <= now + 1)
          continue;
        double gap = times[*next] - times[now + 1];
        double gain = double(program.values[value].bytes) * (gap + 1e-9);
        double cost = costOf(value, *next, least * gain) / gain;
        if (cost < least) {
          least = cost;
          best = int(value);
        }
      }
      if (best < 0)
        return;
      for (unsigned read : program.steps[program.values[best].maker].reads)
        if (there[read] && canHold(read, best))
          hold(read, *nextUse(best, now + 1));
      drop(best);
    }
  }

  const KeptProgram &program;
  int64_t budget;
  const llvm::BitVector *dropped;
  unsigned turn;
  llvm::BitVector there;
  std::vector<unsigned> locks; // by value: runs under way that need it
  std::vector<int64_t> held;   // by value: the last step that one made from it is for
  bool shares = false;
  std::vector<unsigned> holding;
  std::vector<double> times;    // by step, when it starts
  std::vector<unsigned> walked; // by step, the walk that came to it last
  unsigned walk = 0;
  int64_t work = 0;
  int64_t live = 0;
  unsigned peakAt = 0;
  Recomputation result;
};

} // namespace

std::optional<Recomputation> dlc::passes::recomputeUnder(const KeptProgram &program, int64_t budget) {
  std::optional<Recomputation> best;
  for (bool share : {false, true}) {
    Simulation simulation(program, budget);
    simulation.share(share);
    std::optional<Recomputation> result = simulation.run();
    auto rank = [&](const Recomputation &choice) {
      return std::pair(std::max<int64_t>(choice.peak - budget, 0), choice.seconds);
    };
    if (result && (!best || rank(*result) < rank(*best)))
      best = std::move(result);
  }
  return best;
}

std::optional<Recomputation> dlc::passes::recomputeSet(const KeptProgram &program, const llvm::BitVector &dropped,
                                                       unsigned turn) {
  return Simulation(program, 0, &dropped, turn).run();
}

int64_t dlc::passes::leastBytes(const KeptProgram &program) {
  int64_t least = 0;
  for (const KernelStep &step : program.steps) {
    int64_t bytes = step.workspace;
    for (unsigned value : step.reads)
      bytes += program.values[value].bytes;
    for (auto [value, over] : llvm::zip(step.makes, step.takesOver))
      bytes += over >= 0 ? 0 : program.values[value].bytes;
    least = std::max(least, bytes);
  }
  return least;
}

std::pair<unsigned, int64_t> dlc::passes::peakOf(const KeptProgram &program) {
  llvm::BitVector none(program.values.size());
  Simulation simulation(program, 0, &none);
  std::optional<Recomputation> run = simulation.run();
  assert(run && "nothing runs again");
  return {simulation.peakStep(), run->peak};
}
