#include "Members.h"
#include "Values.h"

#include "dlc/runtime/Device.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <random>
#include <thread>

namespace dlc::test {

TEST_P(EngineOfSize, ManyAreStartedAtOnceAndAwaitedBackwards) {
  runMembers(engine(), size(), [&](Communicator &end) {
    constexpr uint32_t kMany = 20;
    std::vector<std::vector<float>> values;
    values.reserve(kMany);
    std::vector<WorkPtr> works;
    for (uint32_t i = 0; i < kMany; ++i)
      values.push_back(valuesOf<float>(end.rank(), 1000 + i, i));
    for (uint32_t i = 0; i < kMany; ++i) {
      StatusOr<WorkPtr> work = end.allReduce(op(i), elements(values[i]), Reduce::Sum);
      ASSERT_TRUE(done(work.status()));
      works.push_back(work.take());
    }
    for (uint32_t i = kMany; i-- > 0;) {
      ASSERT_TRUE(done(works[i]->wait(ample())));
      EXPECT_TRUE(works[i]->done());
      EXPECT_TRUE(sameBits(values[i], reducedOf<float>(Reduce::Sum, size(), 0, 1000 + i, i)));
    }
  });
}

// What was started second on another channel is done while the first still waits for a member.
TEST_P(Engine, ChannelsDoNotWaitForEachOther) {
  Shared<std::atomic<bool>> seen;
  runMembers(GetParam(), 2, 2, [&](Channels &ends) {
    int rank = ends[0]->rank();
    std::vector<float> first = valuesOf<float>(rank, 5000, 1), second = valuesOf<float>(rank, 5000, 2);
    WorkPtr early;
    if (rank == 0) {
      StatusOr<WorkPtr> work = ends[0]->allReduce(op(0), elements(first), Reduce::Sum);
      ASSERT_TRUE(done(work.status()));
      early = work.take();
    }
    ASSERT_TRUE(done(finish(ends[1]->allReduce(op(1), elements(second), Reduce::Sum))));
    if (rank == 0) {
      EXPECT_FALSE(early->done());
      *seen = true;
      ASSERT_TRUE(done(early->wait(ample())));
    } else {
      while (!*seen)
        std::this_thread::yield();
      ASSERT_TRUE(done(finish(ends[0]->allReduce(op(0), elements(first), Reduce::Sum))));
    }
    EXPECT_TRUE(sameBits(first, reducedOf<float>(Reduce::Sum, 2, 0, 5000, 1)));
    EXPECT_TRUE(sameBits(second, reducedOf<float>(Reduce::Sum, 2, 0, 5000, 2)));
  });
}

// Nobody waits, nobody calls: a library that moves data only when it is called would never be done.
TEST_P(Engine, GoesOnWithoutItsCaller) {
  runMembers(GetParam(), 2, [&](Communicator &end) {
    std::vector<float> values = valuesOf<float>(end.rank(), 1 << 20, 6);
    WorkPtr work = end.allReduce(op(0), elements(values), Reduce::Sum).take();
    Deadline limit = ample();
    while (!work->done() && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(work->done());
    EXPECT_TRUE(sameBits(values, reducedOf<float>(Reduce::Sum, 2, 0, 1 << 20, 6)));
  });
}

// Each pair of members is a group, and so are all: every member uses four ends at once, in an order of its own.
TEST_P(Engine, OverlappingGroups) {
  constexpr int kSize = 4;
  runRanks(kSize, [&](int rank, runtime::Store &store) {
    runtime::CommunicatorFactory *factory = *runtime::CommunicatorFactory::open(GetParam());
    struct Joined {
      std::vector<int> members;
      std::unique_ptr<Communicator> end;
      std::vector<float> values;
      WorkPtr work;
    };
    std::vector<Joined> groups;
    auto join = [&](const std::string &name, std::vector<int> members) {
      auto place = std::find(members.begin(), members.end(), rank);
      if (place == members.end())
        return;
      runtime::Group group{name, int(place - members.begin()), {}};
      for (int m : members)
        group.members.push_back("rank " + std::to_string(m));
      group.device = "cuda:" + std::to_string(rank);
      auto made = factory->create(store, group, 0, 1, ample(), fixedOrder());
      ASSERT_TRUE(done(made.status()));
      groups.push_back({std::move(members), made.take(), {}, {}});
    };
    join("all", {0, 1, 2, 3});
    for (int a = 0; a < kSize; ++a)
      for (int b = a + 1; b < kSize; ++b)
        join(std::to_string(a) + std::to_string(b), {a, b});
    for (uint32_t round = 0; round < 20; ++round) {
      std::rotate(groups.begin(), groups.begin() + 1 + rank % 2, groups.end());
      for (Joined &each : groups) {
        each.values = valuesOf<float>(rank, 20000, round);
        each.work = each.end->allReduce(op(round), elements(each.values), Reduce::Sum).take();
      }
      for (Joined &each : groups) {
        ASSERT_TRUE(done(each.work->wait(ample())));
        std::vector<float> expected = valuesOf<float>(each.members[0], 20000, round);
        if (each.members.size() == kSize)
          expected = reducedOf<float>(Reduce::Sum, kSize, 0, 20000, round);
        else
          for (size_t i = 0; i < expected.size(); ++i)
            expected[i] += valueOf<float>(each.members[1], int64_t(i), round);
        EXPECT_TRUE(sameBits(each.values, expected));
      }
    }
  });
}

namespace {

/// One random operation, the same on all members, and what it must give.
class RandomOperation {
public:
  RandomOperation(int rank, int size, uint64_t seed) : size(size), seed(seed) {
    std::minstd_rand random{unsigned(seed) + 1};
    kind = random() % 4;
    count = int64_t(random() % 3000);
    root = int(random() % unsigned(size));
    values = valuesOf<float>(rank, count, seed);
    all.resize(size_t(count * size));
  }

  Status start(Communicator &end) {
    StatusOr<WorkPtr> started = kind == 0   ? end.allReduce(op(uint32_t(seed)), elements(values), Reduce::Sum)
                                : kind == 1 ? end.allGather(op(uint32_t(seed)), elements(values), elements(all))
                                : kind == 2 ? end.broadcast(op(uint32_t(seed)), elements(values), root)
                                            : end.barrier(op(uint32_t(seed)));
    if (started.ok())
      work = started.take();
    return started.status();
  }

  void finish() {
    ASSERT_TRUE(done(work->wait(ample())));
    if (kind == 0) {
      EXPECT_TRUE(sameBits(values, reducedOf<float>(Reduce::Sum, size, 0, count, seed)));
    }
    for (int m = 0; kind == 1 && m < size; ++m)
      EXPECT_TRUE(sameBits({all.begin() + m * count, all.begin() + (m + 1) * count}, valuesOf<float>(m, count, seed)));
    if (kind == 2) {
      EXPECT_TRUE(sameBits(values, valuesOf<float>(root, count, seed)));
    }
  }

private:
  int size, root = 0;
  uint64_t seed;
  unsigned kind = 0;
  int64_t count = 0;
  std::vector<float> values, all;
  WorkPtr work;
};

} // namespace

// Members start and wait at random times, up to four operations at once on each of two channels.
TEST_P(EngineOfSize, RandomOperationsWithRandomDelays) {
  int rounds = slow() ? 10000 : 150;
  runMembers(engine(), size(), 2, [&](Channels &ends) {
    std::minstd_rand random{unsigned(ends[0]->rank()) + 77};
    std::deque<std::unique_ptr<RandomOperation>> running;
    for (int i = 0; i < rounds; ++i) {
      running.push_back(std::make_unique<RandomOperation>(ends[0]->rank(), size(), i));
      ASSERT_TRUE(done(running.back()->start(*ends[size_t(i % 3 == 0)])));
      if (random() % 4 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
      while (running.size() > 8 || (!running.empty() && random() % 3 == 0)) {
        running.front()->finish();
        running.pop_front();
      }
    }
    for (; !running.empty(); running.pop_front())
      running.front()->finish();
  });
}

// The simulated device copies late: without the event the engine would send what was there before.
TEST_P(Engine, WaitsForItsData) {
  runMembers(GetParam(), 2, [&](Communicator &end) {
    StatusOr<runtime::Device *> device = runtime::Device::open({"sim", end.rank()});
    ASSERT_TRUE(done(device.status()));
    std::vector<float> values = valuesOf<float>(end.rank(), 3000, 4), staged(3000, -1);
    StatusOr<runtime::Arena> arena = (*device)->allocate("test", 12000);
    ASSERT_TRUE(done(arena.status()));
    std::unique_ptr<runtime::Stream> stream = (*device)->createStream().take();
    std::unique_ptr<runtime::Event> event = (*device)->createEvent().take();
    ASSERT_TRUE(done(stream->copyToDevice(arena->base(), values.data(), 12000)));
    ASSERT_TRUE(done(stream->copyToHost(staged.data(), arena->base(), 12000)));
    ASSERT_TRUE(done(stream->record(*event)));
    Op when = op(0);
    when.after = event.get();
    ASSERT_TRUE(done(finish(end.allReduce(when, elements(staged), Reduce::Sum))));
    EXPECT_TRUE(sameBits(staged, reducedOf<float>(Reduce::Sum, 2, 0, 3000, 4)));
  });
}

} // namespace dlc::test
