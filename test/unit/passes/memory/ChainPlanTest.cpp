#include "memory/ChainPlan.h"

#include <gtest/gtest.h>
#include <random>

using namespace dlc::passes;

namespace {

/// What a choice of kept links costs, by walking the way back.
struct Walk {
  int64_t most = 0;
  double seconds = 0;

  Walk(const std::vector<ChainLink> &links, const std::vector<bool> &kept) {
    int64_t live = 0;
    for (size_t i = 0; i < links.size(); ++i)
      live += kept[i] ? links[i].bytes : 0;
    for (size_t link = links.size(); link-- > 0;) {
      if (kept[link])
        for (size_t other = link; other-- > 0 && !kept[other];) {
          live += links[other].bytes;
          seconds += links[other].seconds;
        }
      most = std::max(most, live + links[link].besides);
      live -= links[link].bytes;
    }
  }
};

/// The least time by trying all choices; negative: none fits.
double leastTime(const std::vector<ChainLink> &links, int64_t budget) {
  double least = -1;
  for (unsigned choice = 0; choice < 1U << (links.size() - 1); ++choice) {
    std::vector<bool> kept(links.size(), true);
    for (size_t i = 0; i + 1 < links.size(); ++i)
      kept[i] = (choice >> i & 1) != 0;
    Walk walk(links, kept);
    if (walk.most <= budget && (least < 0 || walk.seconds < least))
      least = walk.seconds;
  }
  return least;
}

} // namespace

TEST(ChainPlan, IsAsGoodAsTheBestOfAllChoices) {
  std::mt19937 random(7);
  auto draw = [&](int most) { return int(random() % unsigned(most)) + 1; };
  int fitting = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<ChainLink> links;
    int64_t all = 0;
    for (int i = draw(9); i > 0; --i) {
      links.push_back({draw(20), double(draw(10)), draw(4) - 1});
      all += links.back().bytes;
    }
    int64_t budget = all * draw(10) / 10 + draw(3);
    double expected = leastTime(links, budget);
    std::optional<ChainPlan> plan = planChain(links, budget);
    ASSERT_EQ(plan.has_value(), expected >= 0);
    if (!plan)
      continue;
    ++fitting;
    EXPECT_EQ(plan->seconds, expected);
    Walk walk(links, plan->kept);
    EXPECT_LE(walk.most, budget);
    EXPECT_EQ(walk.seconds, plan->seconds);
  }
  EXPECT_GT(fitting, 500);
}

// Equal links: with the square root of their number kept, twice that many are live.
TEST(ChainPlan, OfEqualLinksKeepsAboutTheRootOfTheirNumber) {
  std::vector<ChainLink> links(100, {1, 1, 0});
  std::optional<ChainPlan> plan = planChain(links, 20);
  ASSERT_TRUE(plan);
  EXPECT_LE(plan->seconds, 90);
  EXPECT_FALSE(planChain(links, 10));
}
