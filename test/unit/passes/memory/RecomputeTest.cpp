#include "memory/Recompute.h"

#include <gtest/gtest.h>
#include <random>

using namespace dlc::passes;

namespace {

/// A step that makes one value of `bytes` from values; returns its number.
unsigned add(KeptProgram &program, int64_t bytes, std::vector<unsigned> reads, double seconds = 1, bool again = true) {
  unsigned step = program.steps.size(), value = program.values.size();
  KernelStep made;
  made.seconds = seconds;
  made.reads.assign(reads.begin(), reads.end());
  made.makes = {value};
  made.takesOver = {-1};
  made.againUntil = again ? INT64_MAX : -1;
  for (unsigned read : reads)
    program.values[read].uses.push_back(step);
  program.steps.push_back(made);
  program.values.push_back({bytes, step, {}, false});
  return value;
}

/// n values each made from the one before, and the way back over them.
KeptProgram chain(unsigned n) {
  KeptProgram program;
  std::vector<unsigned> forward{add(program, 10, {})};
  for (unsigned i = 1; i < n; ++i)
    forward.push_back(add(program, 10, {forward.back()}));
  unsigned back = add(program, 10, {forward.back()}, 2);
  for (unsigned i = n; i-- > 0;)
    back = add(program, 10, {back, forward[i]}, 2);
  program.values.back().uses.push_back(program.steps.size() - 1);
  return program;
}

/// Bytes live at once when the runs follow each other, each value from where it is made to its last use there; -1 where
/// a run reads what is not there or does not come in order.
int64_t replay(const KeptProgram &program, const std::vector<KernelRun> &runs) {
  std::vector<int> lastMade(program.values.size(), -1);
  std::vector<int64_t> change(runs.size() + 1, 0);
  std::vector<std::pair<int, int>> spans; // of each making: where, and its last use
  std::vector<int64_t> bytes;
  std::vector<int> current(program.values.size(), -1);
  unsigned next = 0;
  for (int at = 0; at < int(runs.size()); ++at) {
    const KernelStep &step = program.steps[runs[at].step];
    if (!runs[at].again && runs[at].step != next++)
      return -1;
    for (unsigned read : step.reads) {
      if (current[read] < 0)
        return -1;
      spans[current[read]].second = at;
    }
    for (unsigned made : step.makes) {
      current[made] = int(spans.size());
      spans.push_back({at, at});
      bytes.push_back(program.values[made].bytes);
    }
  }
  if (next != program.steps.size())
    return -1;
  for (size_t i = 0; i < spans.size(); ++i) {
    change[spans[i].first] += bytes[i];
    change[spans[i].second + 1] -= bytes[i];
  }
  int64_t live = 0, most = 0;
  for (int64_t delta : change)
    most = std::max(most, live += delta);
  return most;
}

} // namespace

TEST(Recompute, RunsNothingTwiceWithinTheBudget) {
  KeptProgram program = chain(8);
  auto [turn, peak] = peakOf(program);
  EXPECT_EQ(peak, replay(program, recomputeUnder(program, peak)->runs));
  EXPECT_EQ(recomputeUnder(program, peak)->seconds, 0);
  EXPECT_NEAR(turn, 8, 1);
}

TEST(Recompute, KeepsBudgetsOfAChain) {
  KeptProgram program = chain(16);
  double before = 0;
  for (int64_t budget : {160, 120, 90, 80}) {
    std::optional<Recomputation> result = recomputeUnder(program, budget);
    ASSERT_TRUE(result);
    EXPECT_LE(result->peak, budget);
    int64_t most = replay(program, result->runs);
    EXPECT_GT(most, 0);
    EXPECT_LE(most, result->peak);
    EXPECT_GE(result->seconds, before);
    EXPECT_LE(result->seconds, 32); // 16 of the way there, twice
    before = result->seconds;
  }
}

TEST(Recompute, PlansChains) {
  KeptProgram program = chain(16);
  EXPECT_GT(peakOf(program).second, 120);
  for (int64_t budget : {160, 120, 110}) {
    std::optional<Recomputation> result = recomputeChain(program, budget);
    ASSERT_TRUE(result);
    EXPECT_LE(replay(program, result->runs), budget);
    EXPECT_LE(result->seconds, recomputeUnder(program, budget)->seconds);
  }
  unsigned other = add(program, 10, {0});
  program.values[other].uses.push_back(other);
  program.steps[9].reads.push_back(0); // no longer from the one before alone
  EXPECT_FALSE(recomputeChain(program, 110));
}

TEST(Recompute, DropsWhatIsCheapestForItsBytes) {
  KeptProgram program;
  unsigned x = add(program, 10, {}), cheap = add(program, 100, {x}, 1), dear = add(program, 100, {x}, 50);
  unsigned y = add(program, 60, {cheap, dear});
  y = add(program, 60, {y});
  y = add(program, 60, {y});
  add(program, 10, {y, cheap, dear, x});
  std::optional<Recomputation> result = recomputeUnder(program, 280);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->seconds, 1);
  EXPECT_EQ(replay(program, result->runs), 280);
}

TEST(Recompute, LeavesAloneWhatMayNotRunAgain) {
  KeptProgram program = chain(8);
  for (KernelStep &step : program.steps)
    step.againUntil = -1;
  std::optional<Recomputation> result = recomputeUnder(program, 20);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->runs.size(), program.steps.size());
}

// A variable that the first steps read has its new value from step 12 on.
TEST(Recompute, DoesNotReadWhatHasBeenOverwritten) {
  KeptProgram program = chain(8);
  for (unsigned step = 0; step < 4; ++step)
    program.steps[step].againUntil = 12;
  std::optional<Recomputation> result = recomputeUnder(program, 60);
  ASSERT_TRUE(result);
  unsigned now = 0;
  for (const KernelRun &run : result->runs) {
    if (!run.again)
      now = run.step + 1;
    else if (run.step < 4)
      EXPECT_LE(now, 12);
  }
}

TEST(Recompute, RandomProgramsStaySound) {
  std::mt19937 random(11);
  int less = 0;
  for (int round = 0; round < 300; ++round) {
    KeptProgram program;
    std::vector<unsigned> known{add(program, 10, {})};
    for (int i = 0; i < 40; ++i) {
      std::vector<unsigned> reads;
      for (int r = int(random() % 3); r >= 0; --r) {
        unsigned read = known[random() % known.size()];
        if (std::find(reads.begin(), reads.end(), read) == reads.end())
          reads.push_back(read);
      }
      known.push_back(add(program, 10 + int64_t(random() % 100), reads, 1 + double(random() % 9), random() % 8 != 0));
    }
    for (KeptValue &value : program.values)
      if (value.uses.empty())
        value.uses.push_back(value.maker);
    int64_t before = peakOf(program).second;
    std::optional<Recomputation> result = recomputeUnder(program, before * 2 / 3);
    if (!result)
      continue;
    int64_t most = replay(program, result->runs);
    ASSERT_GT(most, 0);
    EXPECT_LE(most, result->peak);
    less += most < before;
  }
  EXPECT_GT(less, 150);
}
