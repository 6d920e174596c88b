#include "monitor/Verdict.h"

#include "../../TestFile.h"

#include <gmock/gmock.h>

using testing::HasSubstr;

namespace dlc::runtime {

namespace {

std::string nameOf(uint32_t program, uint32_t index) {
  return "collective " + std::to_string(index) + " of program " + std::to_string(program);
}

/// Four ranks of one member that have started the same two collectives.
struct JudgeTest : testing::Test {
  JudgeTest() {
    for (int rank = 0; rank < 4; ++rank) {
      Progress progress;
      for (int step = 0; step < 2; ++step) {
        progress.beginStep();
        progress.started(0, 1, 5, 100);
      }
      ranks.push_back({.name = "rank " + std::to_string(rank), .silent = 0.1, .beat = Beat{1, {Beat::of(progress)}}});
    }
  }

  Beat::Member &member(size_t rank) { return ranks[rank].beat->members[0]; }
  void wait(size_t rank, double seconds) {
    member(rank).phase = Phase::Wait;
    member(rank).program = 1;
    member(rank).index = 5;
    member(rank).milliseconds = int64_t(seconds * 1000);
  }
  /// It has not come to the last collective.
  void leaveBehind(size_t rank) {
    member(rank).step = 1;
    member(rank).channels[0].started = 1;
  }
  std::string verdict() { return Judge(ranks, 10, nameOf).verdict().value_or("none"); }
  std::string remark() { return Judge(ranks, 10, nameOf).remark().value_or("none"); }

  std::vector<RankView> ranks;
};

TEST_F(JudgeTest, NothingIsSaidWhileAllMayBeWell) {
  EXPECT_EQ(verdict(), "none");
  wait(0, 2.0);
  leaveBehind(2);
  ranks[2].silent = 9; // nobody has waited for long
  EXPECT_EQ(verdict(), "none");
  EXPECT_EQ(remark(), "none");
}

TEST_F(JudgeTest, ALostRankIsDeadAtOnce) {
  ranks[2].lost = true;
  EXPECT_THAT(verdict(),
              HasSubstr("rank 2 ended without leaving the job, or cannot be reached; last seen in user code"));
  ranks[2].end = "killed by signal 9";
  EXPECT_THAT(verdict(), HasSubstr("rank 2 ended without leaving the job: killed by signal 9; last seen in user code"));
}

TEST_F(JudgeTest, WhoLeavesWhileOthersWaitLeftEarly) {
  wait(0, 0.3);
  leaveBehind(3);
  member(3).phase = Phase::Leave;
  EXPECT_EQ(verdict(),
            "rank 3 left early: it ended after step 1; rank 0 is in step 2, waiting in collective 5 of program 1");
}

// The last sign of a rank may come from before its last collective was done.
TEST_F(JudgeTest, WhoHasStartedEverythingMayLeaveFirst) {
  wait(0, 0.3);
  member(3).phase = Phase::Leave;
  EXPECT_EQ(verdict(), "none");
}

TEST_F(JudgeTest, OtherCollectivesAsTheSameNumberDiverge) {
  Progress other;
  other.started(0, 1, 5, 100);
  other.started(0, 1, 6, 100);
  other.started(0, 1, 5, 100); // one further
  member(3) = Beat::of(other);
  EXPECT_EQ(verdict(),
            "rank 0 and rank 3 diverged: as number 2 of channel 0 the first started collective 5 of program 1, "
            "the other collective 6 of program 1");
}

TEST_F(JudgeTest, ASilentRankIsStoppedWhenOthersHaveWaitedLong) {
  for (size_t rank : {0, 1, 3})
    wait(rank, 8.0);
  leaveBehind(2);
  ranks[2].silent = 7.9;
  EXPECT_THAT(verdict(),
              HasSubstr("rank 2 stopped responding 7.9 s ago, limit 10.0 s; it was in user code after step 1"));
}

TEST_F(JudgeTest, ARankInTheMiddleOfACollectiveMayBeTheStoppedOne) {
  for (size_t rank : {0, 1, 2, 3})
    wait(rank, 8.0);
  member(1).milliseconds = 100;
  ranks[1].silent = 8;
  EXPECT_THAT(verdict(), HasSubstr("rank 1 stopped responding"));
}

TEST_F(JudgeTest, ARankThatRespondsAndDoesNotComeIsSlow) {
  wait(0, 2.6);
  leaveBehind(2);
  member(2).milliseconds = 2600;
  EXPECT_EQ(verdict(), "none");
  EXPECT_EQ(remark(),
            "rank 0 is in step 2, waiting in collective 5 of program 1 for 2.7 s; not there yet: rank 2; limit "
            "10.0 s");
  wait(0, 8.0);
  member(2).milliseconds = 8000;
  EXPECT_THAT(verdict(),
              HasSubstr("rank 2 is slow or stuck: for 8.0 s in user code after step 1, limit 10.0 s; rank 0 is"));
}

TEST_F(JudgeTest, OneOfSeveralMembersIsNamed) {
  for (RankView &view : ranks) {
    view.members = {"cpu:0", "cpu:1"};
    view.beat->members.push_back(view.beat->members[0]);
  }
  wait(0, 8.0);
  Beat::Member &late = ranks[0].beat->members[1];
  late.channels[0].started = 1;
  late.milliseconds = 8000;
  EXPECT_THAT(verdict(), HasSubstr("rank 0, cpu:1 is slow or stuck: for 8.0 s in user code"));
  EXPECT_THAT(verdict(), HasSubstr("; rank 0, cpu:0 is in step 2, waiting"));
  EXPECT_THAT(remark(), HasSubstr("; not there yet: rank 0, cpu:1; limit"));
}

TEST_F(JudgeTest, WhereAllHaveStartedItIsTheNetwork) {
  for (size_t rank : {0, 1, 2, 3})
    wait(rank, 8.0);
  EXPECT_THAT(verdict(), HasSubstr("network or communicator"));
  EXPECT_THAT(verdict(), HasSubstr("\n  rank 3: in step 2, waiting in collective 5 of program 1"));
}

// Only rank 0 judges all; the others look at rank 0.
TEST_F(JudgeTest, OneRankAloneIsJudgedForItsSilence) {
  wait(1, 8.0);
  leaveBehind(2);
  Judge judge(ranks, 10, nameOf);
  EXPECT_EQ(judge.verdictOn(0), std::nullopt);
  ranks[0].silent = 8;
  EXPECT_THAT(judge.verdictOn(0).value_or(""), HasSubstr("rank 0 stopped responding"));
  ranks[0].lost = true;
  EXPECT_THAT(judge.verdictOn(0).value_or(""), HasSubstr("rank 0 ended without leaving"));
}

TEST(Beat, IsReadAsItWasWritten) {
  Progress progress;
  progress.beginStep();
  progress.enter(Phase::Wait, 3, 7);
  progress.started(2, 3, 7, 11);
  Beat beat{42, {Beat::of(progress), {}}};
  std::optional<Beat> read = Beat::parse(beat.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), beat.text());
  EXPECT_EQ(read->members[0].phase, Phase::Wait);
  EXPECT_EQ(read->members[0].channels[2].started, 1U);
}

// Whatever comes from another process is read or refused.
TEST(Beat, DamagedOnesDoNoHarm) {
  Beat beat{7, {Beat::Member()}};
  test::readDamaged(beat.text(), [](std::string_view text, bool) {
    if (std::optional<Beat> read = Beat::parse(text))
      EXPECT_LE(read->members.size(), 65536U);
  });
  for (const char *wrong : {"", "1", "1 1", "1 99999999999", "-1 0", "1 0 0", "x"})
    EXPECT_FALSE(Beat::parse(wrong)) << wrong;
}

} // namespace

} // namespace dlc::runtime
