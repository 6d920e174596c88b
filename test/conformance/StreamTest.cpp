#include "Conformance.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <thread>

namespace dlc::test {

TEST_P(Conformance, AStreamKeepsItsOrder) {
  runtime::Arena arena = allocate(4);
  std::unique_ptr<runtime::Stream> queue = stream();
  std::vector<int32_t> given(200), seen(200);
  std::iota(given.begin(), given.end(), 0);
  for (size_t i = 0; i < given.size(); ++i) {
    ASSERT_TRUE(done(queue->copyToDevice(arena.base(), &given[i], 4)));
    ASSERT_TRUE(done(queue->copyToHost(&seen[i], arena.base(), 4)));
  }
  ASSERT_TRUE(done(queue->synchronize()));
  EXPECT_EQ(seen, given);
}

TEST_P(Conformance, AStreamThatEndsHasDoneItsWork) {
  runtime::Arena arena = allocate(4);
  int32_t value = 5, back = 0;
  {
    std::unique_ptr<runtime::Stream> queue = stream();
    ASSERT_TRUE(done(queue->copyToDevice(arena.base(), &value, 4)));
    ASSERT_TRUE(done(queue->copyToHost(&back, arena.base(), 4)));
  }
  EXPECT_EQ(back, 5);
}

// A value goes from stream to stream, each adding nothing but its place; every hop waits for the one before.
TEST_P(Conformance, EventsOrderStreams) {
  constexpr int64_t kStreams = 3, kHops = 60;
  runtime::Arena arena = allocate(4 * (kHops + 1));
  std::vector<std::unique_ptr<runtime::Stream>> queues;
  std::generate_n(std::back_inserter(queues), kStreams, [&] { return stream(); });
  std::unique_ptr<runtime::Event> hop = event();
  int32_t value = 77, back = 0;
  ASSERT_TRUE(done(queues[0]->copyToDevice(arena.base(), &value, 4)));
  ASSERT_TRUE(done(queues[0]->record(*hop)));
  for (int64_t i = 0; i < kHops; ++i) {
    runtime::Stream &next = *queues[size_t(i + 1) % kStreams];
    ASSERT_TRUE(done(next.wait(*hop)));
    ASSERT_TRUE(done(next.copy(arena.base() + 4 * (i + 1), arena.base() + 4 * i, 4)));
    ASSERT_TRUE(done(next.record(*hop)));
  }
  ASSERT_TRUE(done(queues[1]->wait(*hop)));
  ASSERT_TRUE(done(queues[1]->copyToHost(&back, arena.base() + 4 * kHops, 4)));
  ASSERT_TRUE(done(queues[1]->synchronize()));
  EXPECT_EQ(back, 77);
}

TEST_P(Conformance, AWaitIsForThePointMarkedThen) {
  runtime::Arena arena = allocate(8);
  std::unique_ptr<runtime::Stream> one = stream(), two = stream();
  std::unique_ptr<runtime::Event> mark = event();
  int32_t first = 1, second = 2, back = 0;
  ASSERT_TRUE(done(two->wait(*mark))); // never recorded: nothing to wait for
  ASSERT_TRUE(done(one->copyToDevice(arena.base(), &first, 4)));
  ASSERT_TRUE(done(one->record(*mark)));
  ASSERT_TRUE(done(two->wait(*mark)));
  ASSERT_TRUE(done(one->copyToDevice(arena.base() + 4, &second, 4)));
  ASSERT_TRUE(done(one->record(*mark)));
  ASSERT_TRUE(done(two->copyToHost(&back, arena.base(), 4)));
  ASSERT_TRUE(done(two->synchronize()));
  EXPECT_EQ(back, 1);
  ASSERT_TRUE(done(mark->synchronize()));
  ASSERT_TRUE(done(two->copyToHost(&back, arena.base() + 4, 4)));
  ASSERT_TRUE(done(two->synchronize()));
  EXPECT_EQ(back, 2);
}

TEST_P(Conformance, AskingAnEventGetsThere) {
  runtime::Arena arena = allocate(4);
  std::unique_ptr<runtime::Stream> queue = stream();
  std::unique_ptr<runtime::Event> mark = event();
  StatusOr<bool> reached = mark->query();
  ASSERT_TRUE(done(reached.status()));
  EXPECT_TRUE(*reached);
  int32_t value = 9, back = 0;
  ASSERT_TRUE(done(queue->copyToDevice(arena.base(), &value, 4)));
  ASSERT_TRUE(done(queue->copyToHost(&back, arena.base(), 4)));
  ASSERT_TRUE(done(queue->record(*mark)));
  do {
    reached = mark->query();
    ASSERT_TRUE(done(reached.status()));
    std::this_thread::yield();
  } while (!*reached);
  EXPECT_EQ(back, 9);
}

TEST_P(Conformance, EventsOfOtherDevicesAreRefused) {
  StatusOr<runtime::Device *> other = runtime::Device::open(device->isHost() ? DeviceId{"sim", 2} : DeviceId{"cpu", 0});
  ASSERT_TRUE(done(other.status()));
  std::unique_ptr<runtime::Event> foreign = (*other)->createEvent().take();
  std::unique_ptr<runtime::Stream> queue = stream();
  EXPECT_FALSE(queue->record(*foreign).ok());
  EXPECT_FALSE(queue->wait(*foreign).ok());
  EXPECT_TRUE(done(queue->synchronize()));
}

TEST_P(Conformance, ThreadsUseStreamsOfTheirOwnAtOnce) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  std::vector<int> wrong(kThreads);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (unsigned round = 0; round < 50; ++round) {
        size_t bytes = 100 + 37 * round;
        runtime::Arena arena = allocate(int64_t(bytes));
        std::unique_ptr<runtime::Stream> queue = stream();
        std::vector<std::byte> value = pattern(bytes, unsigned(t) * 100 + round), back(bytes);
        Status status = queue->copyToDevice(arena.base(), value.data(), int64_t(bytes));
        if (status.ok())
          status = queue->copyToHost(back.data(), arena.base(), int64_t(bytes));
        if (status.ok())
          status = queue->synchronize();
        wrong[size_t(t)] += !status.ok() || back != value;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads));
}

} // namespace dlc::test
