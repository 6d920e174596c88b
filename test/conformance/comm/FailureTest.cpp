#include "Members.h"
#include "Values.h"

#include <atomic>
#include <thread>

namespace dlc::test {

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

// Rank 1 never starts it. The wait ends at its limit, names it and nobody else, and the group is dead.
TEST_P(Engine, AWaitEndsAtItsLimitAndNamesTheMissing) {
  Flag over;
  runMembers(GetParam(), 3, [&](Communicator &end) {
    std::vector<float> values(100000, 1);
    if (end.rank() == 1)
      return over.await();
    auto start = std::chrono::steady_clock::now();
    Status status = finish(end.allReduce(op(7), elements(values), Reduce::Sum), in(end.rank() == 0 ? 0.4 : 30));
    EXPECT_LT(secondsSince(start), 1.4);
    values = {};
    if (end.rank() == 0) {
      EXPECT_GE(secondsSince(start), 0.39);
      EXPECT_TRUE(failsWith(status, {"all_reduce #7 of executable 1, step 5 in group 'data' is not done after ",
                                     " s, its limit; waiting for rank 1 (host h1)"}));
      EXPECT_EQ(status.message().find("rank 2"), std::string::npos) << status.message();
      EXPECT_EQ(finish(end.barrier(op(8))).message(), status.message());
    } else {
      EXPECT_TRUE(failsWith(status, {"is not done after ", " s, its limit; waiting for rank 1 (host h1)"}));
    }
    if (end.rank() == 2)
      over.set();
  });
}

// The trap of engines whose time-out closes more than it should.
TEST_P(Engine, AFailureInOneChannelLeavesTheOther) {
  Flag over;
  runMembers(GetParam(), 2, 2, [&](Channels &ends) {
    std::vector<float> values = valuesOf<float>(ends[0]->rank(), 100000, 3);
    if (ends[0]->rank() == 0) {
      EXPECT_TRUE(failsWith(finish(ends[0]->barrier(op(0)), in(0.1)), {"waiting for rank 1"}));
      over.set();
    }
    over.await();
    ASSERT_TRUE(done(finish(ends[1]->allReduce(op(1), elements(values), Reduce::Sum))));
    EXPECT_TRUE(sameBits(values, reducedOf<float>(Reduce::Sum, 2, 0, 100000, 3)));
  });
}

TEST_P(Engine, AbortFromAnotherThreadEndsEveryWait) {
  Flag started, over;
  Shared<std::atomic<std::chrono::steady_clock::time_point>> aborted;
  runMembers(GetParam(), 3, [&](Communicator &end) {
    std::vector<float> values(100000, 1);
    if (end.rank() == 2)
      return over.await();
    std::vector<WorkPtr> works;
    works.reserve(3);
    for (uint32_t i = 0; i < 3; ++i)
      works.push_back(end.allReduce(op(i), elements(values), Reduce::Sum).take());
    std::thread other;
    if (end.rank() == 1)
      started.set();
    else
      other = std::thread([&] {
        started.await();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        *aborted = std::chrono::steady_clock::now();
        end.abort({StatusCode::PeerFailed, "the verdict"});
      });
    Status status = works[2]->wait(ample());
    EXPECT_LT(secondsSince(*aborted), 1);
    EXPECT_TRUE(failsWith(status, {"the verdict"}));
    EXPECT_FALSE(works[0]->wait(ample()).ok());
    EXPECT_FALSE(works[1]->wait(ample()).ok());
    EXPECT_FALSE(end.barrier(op(3)).ok());
    if (other.joinable())
      other.join();
    if (end.rank() == 1)
      over.set();
  });
}

// In the middle of large transfers: memory is freed right after, which the sanitizer watches.
TEST_P(Engine, AbortInTheMiddleLeavesMemoryAlone) {
  for (int round = 0; round < (slow() ? 100 : 10); ++round)
    runMembers(GetParam(), 3, [&](Communicator &end) {
      auto values = std::make_unique<std::vector<float>>(size_t(1) << 20, 1.0F);
      std::thread other;
      if (end.rank() == round % 3)
        other = std::thread([&] {
          std::this_thread::sleep_for(std::chrono::microseconds(150 * round));
          end.abort({StatusCode::PeerFailed, "the verdict"});
        });
      for (uint32_t i = 0; i < 10; ++i)
        if (!finish(end.allReduce(op(i), elements(*values), Reduce::Sum)).ok())
          break;
      values.reset();
      if (other.joinable())
        other.join();
    });
}

TEST_P(Engine, OtherCountsAreNamedByAll) {
  runMembers(GetParam(), 3, [&](Communicator &end) {
    std::vector<float> values(end.rank() == 1 ? 8 : 7);
    EXPECT_TRUE(failsWith(finish(end.allReduce(op(4), elements(values), Reduce::Sum)),
                          {"expects the same collective on all members", "all_reduce #4", "7 x f32 sum on rank ",
                           "8 x f32 sum on rank 1 (host h1)"}));
  });
}

TEST_P(Engine, OtherOperationsTypesAndIdsAreNamed) {
  for (int what : {0, 1, 2, 3})
    runMembers(GetParam(), 2, [&](Communicator &end) {
      bool odd = end.rank() == 1;
      std::vector<float> values(6);
      Elements given{values.data(), 6, odd && what == 1 ? DType::I32 : DType::F32};
      Status status = odd && what == 0 ? finish(end.broadcast(op(4), given, 1))
                                       : finish(end.allReduce(op(odd && what == 2 ? 9 : 4), given,
                                                              odd && what == 3 ? Reduce::Max : Reduce::Sum));
      const char *other[] = {"broadcast #4 of executable 1, step 5, 6 x f32 from member 1 on rank 1",
                             "6 x i32 sum on rank 1", "all_reduce #9", "6 x f32 max on rank 1"};
      EXPECT_TRUE(failsWith(status, {"all_reduce #4 of executable 1, step 5, 6 x f32 sum on rank 0", other[what]}));
    });
}

TEST_P(Engine, CountsOfAllToAllMustMeet) {
  runMembers(GetParam(), 2, [&](Communicator &end) {
    std::vector<float> in(4), out(4);
    std::vector<int64_t> even = {2, 2}, odd = {1, 3};
    EXPECT_TRUE(
        failsWith(finish(end.allToAll(op(0), elements(in), elements(out), even, end.rank() ? odd : even)),
                  {end.rank() ? "rank 0 (host h0) sends 2 elements to rank 1 (host h1), which expects 1" : ""}));
  });
}

TEST_P(Engine, SendAndReceiveMustAgree) {
  runMembers(GetParam(), 2, [&](Communicator &end) {
    std::vector<float> values(10);
    Status status = end.rank() ? finish(end.receive(op(2), {values.data(), 9, DType::F32}, 0))
                               : finish(end.send(op(2), elements(values), 1));
    EXPECT_TRUE(failsWith(status, {"send #2", "10 x f32 on rank 0", "receive #2", "9 x f32 on rank 1"}));
  });
}

TEST_P(Engine, SendsThatMeetNoReceiveEndAtTheLimit) {
  runMembers(GetParam(), 2, [&](Communicator &end) {
    std::vector<float> values(10);
    EXPECT_TRUE(failsWith(finish(end.send(op(2), elements(values), 1 - end.rank()), in(0.2)), {}));
  });
}

TEST_P(Engine, DroppedWorkAborts) {
  Flag over;
  runMembers(GetParam(), 2, [&](Communicator &end) {
    if (end.rank() == 1)
      return over.await();
    std::vector<float> values(10);
    end.allReduce(op(1), elements(values), Reduce::Sum).take().reset();
    values = {};
    EXPECT_TRUE(failsWith(finish(end.barrier(op(2))), {"all_reduce #1", "was dropped before it was done"}));
    over.set();
  });
}

TEST_P(Engine, AMemberThatLeftIsNamed) {
  Flag left;
  runRanks(2, [&](int rank, runtime::Store &store) {
    std::unique_ptr<Communicator> end = create(GetParam(), store, rank, 2).take();
    EXPECT_TRUE(done(finish(end->barrier(op(0)))));
    if (rank == 1) {
      end.reset();
      return left.set();
    }
    left.await();
    auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(failsWith(finish(end->barrier(op(1))), {"rank 1 (host h1)"}));
    EXPECT_LT(secondsSince(start), 1);
  });
}

TEST_P(Engine, MembersThatNeverComeAreNamed) {
  runRanks(4, [&](int rank, runtime::Store &store) {
    if (rank % 2 == 1)
      return;
    Status status = create(GetParam(), store, rank, 4, 0, in(0.3)).status();
    if (rank == 0)
      EXPECT_TRUE(
          failsWith(status, {"group 'data': at its limit of time still without rank 1 (host h1), rank 3 (host h3)"}));
    else
      EXPECT_TRUE(failsWith(status, {"still without"}));
  });
}

TEST_P(Engine, CreatingAndDestroyingLeavesNothing) {
  auto once = [&] {
    runMembers(GetParam(), 2, [](Communicator &end) { EXPECT_TRUE(done(finish(end.barrier(op(0))))); });
  };
  once();
  Resources before = Resources::now();
  for (int i = 0; i < (slow() ? 1000 : 30); ++i)
    once();
  Resources after = Resources::now();
  EXPECT_EQ(after.files, before.files);
  EXPECT_EQ(after.threads, before.threads);
}

// Destroyed while it runs: the caller gets its memory back, the others learn of it.
TEST_P(Engine, DestroyingAbortsWhatRuns) {
  Flag begun, over;
  runRanks(2, [&](int rank, runtime::Store &store) {
    std::unique_ptr<Communicator> end = create(GetParam(), store, rank, 2).take();
    EXPECT_TRUE(done(finish(end->barrier(op(0)))));
    if (rank == 1) {
      begun.set();
      return over.await();
    }
    begun.await(); // else the news could be here before the other's barrier is over
    std::vector<float> values(1000);
    WorkPtr work = end->allReduce(op(1), elements(values), Reduce::Sum).take();
    end.reset();
    EXPECT_TRUE(work->done());
    EXPECT_TRUE(failsWith(work->wait(ample()), {"the communicator of group 'data' was destroyed"}));
    over.set();
  });
}

} // namespace dlc::test
