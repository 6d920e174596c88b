#include "Conformance.h"

#include <thread>

namespace dlc::test {

namespace {

/// A graph of the stream; null where the device has none.
std::unique_ptr<runtime::Graph> captured(runtime::Stream &queue, const std::function<Status()> &give) {
  StatusOr<std::unique_ptr<runtime::Graph>> graph = queue.capture(give);
  EXPECT_TRUE(done(graph.status()));
  return graph.ok() ? graph.take() : nullptr;
}

/// The first failure.
Status all(std::initializer_list<std::function<Status()>> calls) {
  for (const auto &call : calls)
    if (Status status = call(); !status.ok())
      return status;
  return {};
}

} // namespace

TEST_P(Conformance, AGraphDoesItsWorkWhenLaunchedEachTime) {
  runtime::Arena from = allocate(8), to = allocate(8);
  std::unique_ptr<runtime::Stream> queue = stream();
  int32_t first[2] = {1, 2}, second[2] = {3, 4}, back[2] = {};
  ASSERT_TRUE(done(queue->copyToDevice(from.base(), first, 8)));
  ASSERT_TRUE(done(queue->fill(to.base(), 0, 8)));
  std::unique_ptr<runtime::Graph> graph = captured(*queue, [&] {
    return all(
        {[&] { return queue->fill(to.base(), 0xFF, 8); }, [&] { return queue->copy(to.base(), from.base(), 4); }});
  });
  if (!graph)
    GTEST_SKIP() << GetParam() << " has no graphs";
  ASSERT_TRUE(done(queue->copyToHost(back, to.base(), 8)));
  ASSERT_TRUE(done(queue->synchronize()));
  EXPECT_EQ(back[0], 0); // noted, not done
  for (const auto &values : {first, second, first}) {
    ASSERT_TRUE(done(queue->copyToDevice(from.base(), values, 8)));
    ASSERT_TRUE(done(queue->launch(*graph)));
    ASSERT_TRUE(done(queue->copyToHost(back, to.base(), 8)));
    ASSERT_TRUE(done(queue->synchronize()));
    EXPECT_EQ(back[0], values[0]);
    EXPECT_EQ(back[1], -1);
  }
}

// Whatever order a graph's parts are done in, events keep theirs.
TEST_P(Conformance, EventsOrderTheWorkOfAGraph) {
  runtime::Arena arena = allocate(16);
  std::unique_ptr<runtime::Stream> queue = stream(), other = stream();
  std::unique_ptr<runtime::Event> fork = event(), join = event();
  char *base = arena.base();
  std::unique_ptr<runtime::Graph> graph = captured(*queue, [&] {
    return all({[&] { return queue->fill(base, 1, 16); }, [&] { return queue->record(*fork); },
                [&] { return other->wait(*fork); }, [&] { return other->copy(base + 4, base, 4); },
                [&] { return queue->fill(base + 8, 2, 4); }, [&] { return other->fill(base, 3, 4); },
                [&] { return other->record(*join); }, [&] { return queue->wait(*join); },
                [&] { return queue->copy(base + 12, base, 4); }});
  });
  if (!graph)
    GTEST_SKIP() << GetParam() << " has no graphs";
  for (int round = 0; round < 2; ++round) {
    std::vector<std::byte> back(16);
    ASSERT_TRUE(done(queue->fill(base, 9, 16)));
    ASSERT_TRUE(done(queue->launch(*graph)));
    ASSERT_TRUE(done(queue->copyToHost(back.data(), base, 16)));
    ASSERT_TRUE(done(queue->synchronize()));
    EXPECT_EQ(std::to_integer<int>(back[0]), 3);
    EXPECT_EQ(std::to_integer<int>(back[4]), 1);
    EXPECT_EQ(std::to_integer<int>(back[8]), 2);
    EXPECT_EQ(std::to_integer<int>(back[12]), 3);
  }
}

TEST_P(Conformance, WhatCannotBeAGraphLeavesTheStreamAsItWas) {
  runtime::Arena arena = allocate(8);
  std::unique_ptr<runtime::Stream> queue = stream(), other = stream();
  std::unique_ptr<runtime::Event> fork = event();
  char *base = arena.base();
  StatusOr<std::unique_ptr<runtime::Graph>> nothing = queue->capture([] { return Status(); });
  ASSERT_TRUE(done(nothing.status()));
  if (!*nothing)
    GTEST_SKIP() << GetParam() << " has no graphs";
  EXPECT_TRUE(done(queue->launch(**nothing)));
  // Its work waits for itself; another stream's work is left over; the giver gives up.
  EXPECT_FALSE(queue->capture([&] { return queue->synchronize(); }).ok());
  EXPECT_FALSE(queue
                   ->capture([&] {
                     return all({[&] { return queue->fill(base, 1, 4); }, [&] { return queue->record(*fork); },
                                 [&] { return other->wait(*fork); }, [&] { return other->fill(base + 4, 1, 4); }});
                   })
                   .ok());
  EXPECT_EQ(queue->capture([] { return Status(StatusCode::Internal, "no"); }).status().message().substr(0, 2), "no");
  int32_t value = 5, back = 0;
  ASSERT_TRUE(done(queue->copyToDevice(base, &value, 4)));
  ASSERT_TRUE(done(other->fill(base + 4, 0, 4)));
  ASSERT_TRUE(done(queue->copyToHost(&back, base, 4)));
  ASSERT_TRUE(done(queue->synchronize()));
  EXPECT_EQ(back, 5);
}

// One thread's memory goes while another captures.
TEST_P(Conformance, ThreadsCaptureWhileOthersFree) {
  constexpr int kThreads = 3;
  std::vector<std::thread> threads;
  std::vector<Status> results(kThreads);
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::unique_ptr<runtime::Stream> queue = stream();
      for (int round = 0; round < 30 && results[t].ok(); ++round) {
        runtime::Arena arena = allocate(64);
        std::vector<std::byte> back(64);
        StatusOr<std::unique_ptr<runtime::Graph>> graph =
            queue->capture([&] { return queue->fill(arena.base(), uint8_t(t), 64); });
        results[t] = all({[&] { return graph.status(); },
                          [&] { return *graph ? queue->launch(**graph) : queue->fill(arena.base(), uint8_t(t), 64); },
                          [&] { return queue->copyToHost(back.data(), arena.base(), 64); },
                          [&] { return queue->synchronize(); }});
        if (back != std::vector<std::byte>(64, std::byte(t)) && results[t].ok())
          results[t] = {StatusCode::Internal, "wrong bytes"};
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &result : results)
    EXPECT_TRUE(done(result));
}

} // namespace dlc::test
