#include "Members.h"
#include "Values.h"

#include <atomic>

namespace dlc::test {

TEST_P(EngineOfSize, AllGatherJoinsTheParts) {
  runMembers(engine(), size(), [&](Communicator &end) {
    uint32_t index = 0;
    forEachType([&](auto value) {
      using T = decltype(value);
      for (int64_t count : sizes()) {
        std::vector<T> expected, part = valuesOf<T>(end.rank(), count, 1);
        for (int m = 0; m < size(); ++m)
          for (T each : valuesOf<T>(m, count, 1))
            expected.push_back(each);
        std::vector<T> all(static_cast<size_t>(count * size()));
        ASSERT_TRUE(done(finish(end.allGather(op(index), elements(part), elements(all)))));
        EXPECT_TRUE(sameBits(all, expected)) << name(kType<T>) << " x " << count;
        all.assign(size_t(count * size()), T());
        std::copy(part.begin(), part.end(), all.begin() + count * end.rank());
        Elements own{all.data() + count * end.rank(), count, kType<T>};
        ASSERT_TRUE(done(finish(end.allGather(op(index++), own, elements(all)))));
        EXPECT_TRUE(sameBits(all, expected)) << name(kType<T>) << " x " << count << " in place";
      }
    });
  });
}

TEST_P(EngineOfSize, BroadcastFromEachMember) {
  runMembers(engine(), size(), [&](Communicator &end) {
    forEachType([&](auto value) {
      using T = decltype(value);
      for (int64_t count : sizes())
        for (int root = 0; root < size(); ++root) {
          std::vector<T> values = valuesOf<T>(end.rank(), count, 2);
          ASSERT_TRUE(done(finish(end.broadcast(op(uint32_t(root)), elements(values), root))));
          EXPECT_TRUE(sameBits(values, valuesOf<T>(root, count, 2))) << name(kType<T>) << " x " << count;
        }
    });
  });
}

// Member a sends to b a number of elements that depends on both, some none.
TEST_P(EngineOfSize, AllToAllOfUnevenParts) {
  auto countOf = [](int64_t size, int from, int to) { return (from + 2 * to) % 3 * size / 2; };
  runMembers(engine(), size(), [&](Communicator &end) {
    forEachType([&](auto value) {
      using T = decltype(value);
      for (int64_t count : sizes()) {
        std::vector<int64_t> inCounts, outCounts;
        std::vector<T> in, expected;
        for (int m = 0; m < size(); ++m) {
          inCounts.push_back(countOf(count, end.rank(), m));
          outCounts.push_back(countOf(count, m, end.rank()));
          for (T each : valuesOf<T>(end.rank(), inCounts.back(), uint64_t(m)))
            in.push_back(each);
          for (T each : valuesOf<T>(m, outCounts.back(), uint64_t(end.rank())))
            expected.push_back(each);
        }
        std::vector<T> out(expected.size());
        ASSERT_TRUE(done(finish(end.allToAll(op(3), elements(in), elements(out), inCounts, outCounts))));
        EXPECT_TRUE(sameBits(out, expected)) << name(kType<T>) << " x " << count;
      }
    });
  });
}

// Around a ring: even members send first. Twice, so that transfers of one pair of members stay in order.
TEST_P(EngineOfSize, SendMeetsReceive) {
  if (size() % 2 != 0)
    GTEST_SKIP() << "pairs need an even number";
  runMembers(engine(), size(), [&](Communicator &end) {
    int next = (end.rank() + 1) % size(), before = (end.rank() + size() - 1) % size();
    forEachType([&](auto value) {
      using T = decltype(value);
      for (int64_t count : sizes())
        for (uint64_t round : {1, 2}) {
          std::vector<T> given = valuesOf<T>(end.rank(), count, round), got(static_cast<size_t>(count));
          WorkPtr works[2];
          for (int i : {0, 1}) {
            StatusOr<WorkPtr> work = (end.rank() + i) % 2 == 0 ? end.send(op(0), elements(given), next)
                                                               : end.receive(op(0), elements(got), before);
            ASSERT_TRUE(done(work.status()));
            works[i] = work.take();
          }
          ASSERT_TRUE(done(works[1]->wait(ample())));
          ASSERT_TRUE(done(works[0]->wait(ample())));
          EXPECT_TRUE(sameBits(got, valuesOf<T>(before, count, round))) << name(kType<T>) << " x " << count;
        }
    });
  });
}

TEST_P(EngineOfSize, NobodyPassesABarrierBeforeAllAreThere) {
  Shared<std::atomic<int>> arrived;
  runMembers(engine(), size(), [&](Communicator &end) {
    for (int round = 1; round <= 50; ++round) {
      ++*arrived;
      ASSERT_TRUE(done(finish(end.barrier(op(uint32_t(round))))));
      EXPECT_GE(*arrived, round * size());
    }
  });
}

TEST_P(EngineOfSize, KnowsItsPlace) {
  Shared<std::atomic<int>> ranks;
  runMembers(engine(), size(), [&](Communicator &end) {
    *ranks += 1 << end.rank();
    EXPECT_EQ(end.size(), size());
    EXPECT_EQ(end.engine(), engine());
    ASSERT_TRUE(done(finish(end.barrier(op(0)))));
    EXPECT_EQ(*ranks, (1 << size()) - 1);
  });
}

} // namespace dlc::test
