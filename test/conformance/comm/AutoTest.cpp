#include "Members.h"

#include "comm/ChooseEngine.h"

namespace dlc::test {

using runtime::MemberPlace;

TEST(ChooseEngine, ByPlaces) {
  auto chosen = [](std::vector<MemberPlace> places) {
    StatusOr<std::string> engine = runtime::chooseEngine(places);
    return engine.ok() ? *engine : "none: " + engine.status().message();
  };
  EXPECT_EQ(chosen({{"a", 1}}), "inprocess");
  EXPECT_EQ(chosen({{"a", 1}, {"a", 1}}), "inprocess");
  EXPECT_EQ(chosen({{"a", 1, true, true}, {"a", 2, true, true}}), "shm");
  EXPECT_EQ(chosen({{"a", 1, false, true}, {"b", 1, false, true}}), "gloo");
  EXPECT_EQ(chosen({{"a", 1, true, true}, {"b", 1, true, true}}), "mpi");
  EXPECT_EQ(chosen({{"a", 1, true, true}, {"b", 1, false, true}}), "gloo");
  EXPECT_EQ(chosen({{"a", 1, true, true}, {"a", 1, true, true}, {"b", 1, true, true}}), "gloo");
  EXPECT_EQ(chosen({{"a", 1, true, false}, {"b", 1, false, true}}).substr(0, 13), "none: expects");
}

TEST(Auto, ThreadsAreInOneProcess) {
  runMembers("auto", 3, [](Communicator &end) {
    EXPECT_EQ(end.engine(), "inprocess");
    EXPECT_TRUE(done(finish(end.barrier(op(0)))));
  });
}

TEST(Auto, ProcessesOfAHostShareMemory) {
  FolderStore store;
  std::vector<int> codes = runProcesses("auto", 2, [&](int rank) {
    StatusOr<std::unique_ptr<Communicator>> end = create("auto", store, rank, 2);
    return end.ok() && (*end)->engine() == "shm" && finish((*end)->barrier(op(0))).ok() ? 0 : 1;
  });
  EXPECT_EQ(codes, (std::vector<int>{0, 0}));
}

TEST(Auto, MembersThatNeverComeAreNamed) {
  FolderStore store;
  EXPECT_TRUE(failsWith(create("auto", store, 0, 3, 0, in(0.1)).status(),
                        {"still without rank 1 (host h1), rank 2 (host h2)"}));
}

} // namespace dlc::test
