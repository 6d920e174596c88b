#include "launch/ShutDown.h"

#include <gtest/gtest.h>

namespace dlc::launch {
namespace {

using Step = ShutDown::Step;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ShutDown, AsksThenKillsThenGivesUp) {
  Time start{};
  ShutDown shutDown(seconds(3));
  EXPECT_EQ(shutDown.due(start), Step::None);
  EXPECT_FALSE(shutDown.next());
  shutDown.begin(start, seconds(5));
  EXPECT_EQ(*shutDown.next(), start + seconds(5));
  EXPECT_EQ(shutDown.due(start + milliseconds(4999)), Step::None);
  EXPECT_FALSE(shutDown.asked());
  EXPECT_EQ(shutDown.due(start + seconds(5)), Step::Ask);
  EXPECT_TRUE(shutDown.asked());
  EXPECT_EQ(shutDown.due(start + milliseconds(7999)), Step::None);
  EXPECT_EQ(shutDown.due(start + seconds(8)), Step::Kill);
  EXPECT_EQ(shutDown.due(start + seconds(8)), Step::None);
  EXPECT_EQ(shutDown.due(start + seconds(8) + ShutDown::kAgain), Step::Kill);
  EXPECT_EQ(shutDown.due(start + seconds(8) + ShutDown::kKilled), Step::GiveUp);
}

TEST(ShutDown, TheEarliestLimitCounts) {
  Time start{};
  ShutDown shutDown(seconds(3));
  shutDown.begin(start, seconds(5));
  shutDown.begin(start + seconds(1), seconds(5)); // another failure
  EXPECT_EQ(*shutDown.next(), start + seconds(5));
  shutDown.begin(start + seconds(1), seconds(1));
  EXPECT_EQ(shutDown.due(start + seconds(2)), Step::Ask);
  shutDown.begin(start + seconds(2), seconds(1));
  EXPECT_EQ(shutDown.due(start + seconds(3)), Step::None);
}

TEST(ShutDown, KillsAtOnce) {
  Time start{};
  ShutDown shutDown(seconds(3));
  shutDown.begin(start, seconds(5));
  shutDown.kill(start + seconds(1));
  EXPECT_EQ(shutDown.due(start + seconds(1)), Step::Kill);
}

} // namespace
} // namespace dlc::launch
