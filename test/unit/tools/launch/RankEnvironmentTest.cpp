#include "launch/RankEnvironment.h"

#include <gmock/gmock.h>

namespace dlc::launch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;

TEST(RankEnvironment, ThreadsAreSharedOut) {
  EXPECT_EQ(threadShare(8, 2, ""), 4);
  EXPECT_EQ(threadShare(8, 3, "cpu"), 2);
  EXPECT_EQ(threadShare(8, 2, "cpu:4"), 1);
  EXPECT_EQ(threadShare(8, 16, ""), 1);
  EXPECT_EQ(threadShare(8, 2, "sim:1"), 4);
  for (const char *wrong : {"cpu:", "cpu:x", "cpu:0", "cpu:-3"})
    EXPECT_EQ(threadShare(8, 2, wrong), 4) << wrong;
}

TEST(RankEnvironment, ARankHasAWholeContract) {
  Arguments arguments;
  arguments.ranks = 2;
  arguments.timeout = "7";
  runtime::Environment variables = sharedVariables({{"RANK", "5"}, {"DLC_SECRET_FILE", "f"}, {"HOME", "/h"}}, arguments,
                                                   {"127.0.0.1", 4711, "s", 3});
  EXPECT_THAT(variables,
              AllOf(Contains(Pair("HOME", "/h")), Not(Contains(Key("RANK"))), Not(Contains(Key("DLC_SECRET_FILE")))));
  setPlace(variables, {3, 4, 1, 2});
  StatusOr<runtime::Contract> contract = runtime::detectContract(variables);
  ASSERT_TRUE(contract.ok()) << contract.status().message();
  EXPECT_EQ(contract->rank, 3);
  EXPECT_EQ(contract->worldSize, 4);
  EXPECT_EQ(contract->localRank, 1);
  EXPECT_EQ(contract->localWorldSize, 2);
  EXPECT_EQ(contract->masterAddress, "127.0.0.1");
  EXPECT_EQ(contract->masterPort, 4711);
  EXPECT_EQ(contract->secret, "s");
  EXPECT_EQ(contract->generation, 3U);
  EXPECT_EQ(contract->timeout, std::chrono::seconds(7));
  EXPECT_TRUE(contract->externalStore);
  EXPECT_THAT(texts({{"A", "1"}, {"B", ""}}), testing::ElementsAre("A=1", "B="));
}

} // namespace
} // namespace dlc::launch
