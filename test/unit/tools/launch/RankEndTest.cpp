#include "launch/RankEnd.h"

#include <gmock/gmock.h>

#include <csignal>
#include <sys/wait.h>

namespace dlc::launch {
namespace {

int exited(int code) { return W_EXITCODE(code, 0); }
int killed(int signal) { return W_EXITCODE(0, signal); }

RankEnd end(int rank, int status, bool asked = false) { return {rank, 100 + rank, status, asked, "b"}; }

TEST(RankEnd, Codes) {
  EXPECT_EQ(end(0, exited(3)).code(), 3);
  EXPECT_EQ(end(0, killed(SIGKILL)).code(), 137);
}

TEST(RankEnd, WhatTheLauncherEndedIsNoFailure) {
  EXPECT_FALSE(failureOf(end(1, exited(0))));
  EXPECT_FALSE(failureOf(end(1, killed(SIGTERM), true)));
  EXPECT_EQ(failureOf(end(1, exited(3)))->what, "rank 1 (host b, pid 101) ended with exit code 3");
  EXPECT_EQ(failureOf(end(1, killed(SIGSEGV)))->what, "rank 1 (host b, pid 101) was killed by SIGSEGV (signal 11)");
  EXPECT_TRUE(failureOf(end(1, exited(4)))->blamesPeer());
}

TEST(RankEnd, SummaryNamesTheFailureAndGroupsTheOthers) {
  std::vector<RankEnd> ends = {
      end(2, killed(SIGTERM), true), end(1, killed(SIGKILL)), end(0, exited(4)), end(3, exited(4)), end(4, exited(0)),
      end(5, exited(1), true)};
  EXPECT_EQ(
      summary(*failureOf(ends[1]), ends),
      "rank 1 (host b, pid 101) was killed by SIGKILL (signal 9); ranks 0, 3: exit code 4; "
      "rank 2: ended by the launcher with SIGTERM (signal 15); rank 4: done; rank 5: exit code 1 when asked to end");
}

TEST(RankEnd, TextAndBack) {
  Failure failure{7, 2, "rank 2 (host b, pid 1) did it", true};
  std::optional<Failure> again = decodeFailure(encode(failure));
  ASSERT_TRUE(again);
  EXPECT_EQ(encode(*again), encode(failure));
  EXPECT_EQ(again->what, failure.what);
  EXPECT_TRUE(again->wanted);
  std::vector<RankEnd> ends = {end(0, exited(4)), end(1, killed(9), true)};
  std::optional<std::vector<RankEnd>> same = decodeEnds(encode(ends));
  ASSERT_TRUE(same);
  EXPECT_EQ(encode(*same), encode(ends));
  EXPECT_EQ(decodeEnds("")->size(), 0U);
  for (const char *text : {"", "x", "1", "1 2", "1 2 0", "1 2 0 "})
    EXPECT_FALSE(decodeFailure(text)) << text;
  for (const char *text : {"x\n", "1 2 3\n", "1 2 3 0 \n", "1 2 3 7 host\n"})
    EXPECT_FALSE(decodeEnds(text)) << text;
}

TEST(RankEnd, Lists) {
  EXPECT_EQ(listText({2}), "2");
  std::vector<int> many(20);
  for (int i = 0; i < 20; ++i)
    many[size_t(i)] = i;
  EXPECT_THAT(listText(many), testing::EndsWith(", 15 and 4 more"));
}

} // namespace
} // namespace dlc::launch
