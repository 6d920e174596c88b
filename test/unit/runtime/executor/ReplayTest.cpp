#include "executor/Replay.h"

#include <gmock/gmock.h>

#include <array>
#include <bit>

using namespace dlc;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

using Log = std::vector<std::string>;

class FakeGraph : public runtime::Graph {
public:
  FakeGraph(Log work, int &alive) : work(std::move(work)), alive(alive) { ++alive; }
  ~FakeGraph() override { --alive; }
  const Log work;

private:
  int &alive;
};

/// Notes what it is given; call `failing` fails.
class FakeStream : public runtime::Stream {
public:
  Log log;
  int captures = 0, graphs = 0;
  int calls = 0, failing = -1;
  bool hasGraphs = true;

  Status note(std::string what) {
    if (calls++ == failing)
      return {StatusCode::Internal, what + " failed"};
    (capturing ? captured : log).push_back(std::move(what));
    return {};
  }

  Status copyToDevice(void *, const void *, int64_t) override { return note("to device"); }
  Status copyToHost(void *, const void *, int64_t) override { return note("to host"); }
  Status copy(void *to, const void *from, int64_t bytes) override {
    return note("copy " + std::to_string(offset(to)) + " " + std::to_string(offset(from)) + " " +
                std::to_string(bytes));
  }
  Status fill(void *, uint8_t, int64_t) override { return note("fill"); }
  Status record(runtime::Event &) override { return {}; }
  Status wait(runtime::Event &) override { return {}; }
  Status synchronize() override { return note("wait"); }

  StatusOr<std::unique_ptr<runtime::Graph>> capture(const std::function<Status()> &give) override {
    if (!hasGraphs)
      return std::unique_ptr<runtime::Graph>();
    ++captures;
    captured.clear();
    capturing = true;
    Status status = give();
    capturing = false;
    if (!status.ok())
      return status;
    return std::unique_ptr<runtime::Graph>(new FakeGraph(captured, graphs));
  }
  Status launch(runtime::Graph &graph) override {
    const Log &work = dynamic_cast<FakeGraph &>(graph).work;
    std::string text;
    for (const std::string &piece : work)
      text += (text.empty() ? "[" : ", ") + piece;
    return note(text + "]");
  }

  int64_t offset(const void *pointer) const { return static_cast<const char *>(pointer) - memory.data(); }
  void *at(size_t index) { return memory.data() + index; }

private:
  std::array<char, 1024> memory{};
  Log captured;
  bool capturing = false;
};

class FakeKernels : public runtime::Kernels {
public:
  Status launch(runtime::Stream &stream, uint32_t kernel, void *const *operands, std::string_view entry) override {
    auto &queue = dynamic_cast<FakeStream &>(stream);
    return queue.note(std::string(entry) + " k" + std::to_string(kernel) + " " +
                      std::to_string(queue.offset(operands[0])));
  }
};

/// A program of kernels with one operand, which do nothing but come up in the stream's log.
struct Replaying : testing::Test {
  Replaying() {
    manifest.entries = {{"step", {}, {}, 0}, {"eval", {}, {}, 0}};
    manifest.kernels.resize(8);
    for (KernelInfo &kernel : manifest.kernels)
      kernel.operands.resize(1);
  }

  /// One call; what the stream got.
  template <typename Body>
  Log call(size_t entry, std::vector<const void *> pointers, Body body) {
    stream.log.clear();
    entered = false;
    last = replay->run({entry, std::move(pointers)}, [&] {
      entered = true;
      return body();
    });
    return stream.log;
  }
  Status kernel(uint32_t index, size_t where = 0) {
    void *operands[] = {stream.at(where)};
    return replay->launch(index, operands);
  }
  /// What a fetch does.
  Status fetch() {
    if (Status status = replay->boundary(); !status.ok())
      return status;
    return stream.synchronize();
  }

  Manifest manifest;
  FakeStream stream;
  FakeKernels kernels;
  std::unique_ptr<Replay> replay = std::make_unique<Replay>(stream, kernels, manifest);
  Status last;
  bool entered = false;
};

/// Up to the first failure.
template <typename... Calls>
Status all(Calls... calls) {
  Status status;
  ((status = calls(), status.ok()) && ...);
  return status;
}

TEST_F(Replaying, AnEntryWithoutBoundariesRunsItsCodeOnce) {
  auto body = [&] {
    return all([&] { return kernel(1, 4); }, [&] { return replay->copy(stream.at(8), stream.at(16), 4); });
  };
  EXPECT_THAT(call(0, {stream.at(0)}, body), ElementsAre("step k1 4", "copy 8 16 4"));
  EXPECT_TRUE(entered);
  for (int again = 0; again < 3; ++again) {
    EXPECT_THAT(call(0, {stream.at(0)}, body), ElementsAre("[step k1 4, copy 8 16 4]"));
    EXPECT_FALSE(entered);
  }
  EXPECT_EQ(stream.captures, 1);
  // Another pointer of the call that changes nothing of its work.
  EXPECT_THAT(call(0, {stream.at(1)}, body), ElementsAre("[step k1 4, copy 8 16 4]"));
  EXPECT_TRUE(entered);
  EXPECT_EQ(stream.captures, 1);
  // Another entry with the same pointers.
  EXPECT_THAT(call(1, {stream.at(0)}, body), ElementsAre("eval k1 4", "copy 8 16 4"));
}

TEST_F(Replaying, OnePieceIsGivenAsItIs) {
  auto body = [&] { return kernel(3); };
  for (int again = 0; again < 3; ++again)
    EXPECT_THAT(call(0, {}, body), ElementsAre("step k3 0"));
  EXPECT_FALSE(entered);
  EXPECT_EQ(stream.captures, 0);
  EXPECT_THAT(call(1, {}, [] { return Status(); }), IsEmpty());
  EXPECT_THAT(call(1, {}, [] { return Status(); }), IsEmpty());
}

TEST_F(Replaying, BranchesByTurnsHaveGraphsOfTheirOwn) {
  auto step = [&](bool taken) {
    return call(0, {}, [&, taken] {
      return all([&] { return kernel(0); }, [&] { return kernel(1); }, [&] { return fetch(); },
                 [&] { return kernel(2); }, [&] { return kernel(taken ? 3 : 4); }, [&] { return kernel(5); });
    });
  };
  EXPECT_THAT(step(true), ElementsAre("step k0 0", "step k1 0", "wait", "step k2 0", "step k3 0", "step k5 0"));
  // k2 was held back when the branch turned out to be new.
  EXPECT_THAT(step(false), ElementsAre("[step k0 0, step k1 0]", "wait", "step k2 0", "step k4 0", "step k5 0"));
  for (int again = 0; again < 3; ++again) {
    EXPECT_THAT(step(true), ElementsAre("[step k0 0, step k1 0]", "wait", "[step k2 0, step k3 0, step k5 0]"));
    EXPECT_THAT(step(false), ElementsAre("[step k0 0, step k1 0]", "wait", "[step k2 0, step k4 0, step k5 0]"));
    EXPECT_TRUE(entered);
  }
  EXPECT_EQ(stream.captures, 3);
}

TEST_F(Replaying, WorkThatEndsEarlierOrLaterIsOtherWork) {
  auto step = [&](size_t count) {
    return call(0, {}, [&, count] {
      Status status = fetch();
      for (size_t i = 0; i < count && status.ok(); ++i)
        status = kernel(uint32_t(i));
      return status.ok() ? fetch() : status;
    });
  };
  EXPECT_THAT(step(3), ElementsAre("wait", "step k0 0", "step k1 0", "step k2 0", "wait"));
  EXPECT_THAT(step(2), ElementsAre("wait", "step k0 0", "step k1 0", "wait"));
  EXPECT_THAT(step(4), ElementsAre("wait", "step k0 0", "step k1 0", "step k2 0", "step k3 0", "wait"));
  EXPECT_THAT(step(0), ElementsAre("wait", "wait"));
  EXPECT_THAT(step(2), ElementsAre("wait", "[step k0 0, step k1 0]", "wait"));
  EXPECT_THAT(step(3), ElementsAre("wait", "[step k0 0, step k1 0, step k2 0]", "wait"));
  EXPECT_THAT(step(4), ElementsAre("wait", "[step k0 0, step k1 0, step k2 0, step k3 0]", "wait"));
}

TEST_F(Replaying, PointersByTurnsHaveGraphsAndOthersAreForgotten) {
  auto step = [&](size_t where) {
    return call(0, {stream.at(where)},
                [&, where] { return all([&] { return kernel(0, where); }, [&] { return kernel(1); }); });
  };
  for (int again = 0; again < 4; ++again)
    for (size_t where : {0, 4, 8})
      step(where);
  EXPECT_EQ(stream.captures, 3);
  EXPECT_EQ(stream.graphs, 3);
  for (size_t where = 100; where < 500; ++where) {
    EXPECT_THAT(step(where).size(), 2U); // new: at once, both
    step(where);
  }
  EXPECT_EQ(stream.captures, 403);
  EXPECT_EQ(stream.graphs, 8);
  EXPECT_EQ(step(0).size(), 2U);
  EXPECT_EQ(step(499).size(), 1U);
}

TEST_F(Replaying, MoreBoundariesThanPlacesAreGivenDirectly) {
  auto body = [&] {
    Status status;
    for (int i = 0; i < 400 && status.ok(); ++i)
      status = all([&] { return kernel(0); }, [&] { return kernel(1); }, [&] { return replay->boundary(); });
    return status;
  };
  EXPECT_EQ(call(0, {}, body).size(), 800U);
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(call(0, {}, body).size(), 256U + 2 * (400 - 256));
  EXPECT_EQ(stream.graphs, 256);
}

TEST_F(Replaying, ADeviceWithoutGraphsGetsEachPiece) {
  stream.hasGraphs = false;
  auto body = [&] {
    return all([&] { return kernel(0); }, [&] { return kernel(1); }, [&] { return fetch(); }, [&] { return kernel(2); },
               [&] { return kernel(3); });
  };
  for (int again = 0; again < 4; ++again) {
    EXPECT_THAT(call(0, {}, body), ElementsAre("step k0 0", "step k1 0", "wait", "step k2 0", "step k3 0"));
    EXPECT_TRUE(entered);
  }
}

// Whichever call of the stream fails in whichever of four calls, the failure comes back from that call, and later ones
// give what they must.
TEST_F(Replaying, AFailureComesBackAndNothingOfItStays) {
  auto step = [&](bool taken) {
    return call(0, {}, [&, taken] {
      return all([&] { return kernel(0); }, [&] { return kernel(taken ? 1 : 2); }, [&] { return fetch(); },
                 [&] { return kernel(3); }, [&] { return kernel(taken ? 4 : 5); });
    });
  };
  const bool turns[] = {true, true, false, false, true};
  for (int failing = 0;; ++failing) {
    replay = std::make_unique<Replay>(stream, kernels, manifest);
    stream.calls = 0;
    stream.failing = failing;
    int failures = 0;
    for (bool taken : turns) {
      step(taken);
      failures += last.ok() ? 0 : 1;
    }
    bool failed = stream.calls > failing;
    EXPECT_EQ(failures, failed ? 1 : 0) << failing;
    stream.failing = -1;
    for (bool taken : turns)
      step(taken);
    EXPECT_TRUE(last.ok());
    EXPECT_THAT(step(true), ElementsAre("[step k0 0, step k1 0]", "wait", "[step k3 0, step k4 0]")) << failing;
    EXPECT_THAT(step(false), ElementsAre("[step k0 0, step k2 0]", "wait", "[step k3 0, step k5 0]")) << failing;
    if (!failed)
      break;
  }
}

TEST_F(Replaying, AnEntryThatGivesUpLeavesNothingHeldBack) {
  auto step = [&](bool givesUp) {
    return call(0, {stream.at(givesUp ? 1 : 0)}, [&, givesUp] {
      return all([&] { return kernel(0); }, [&] { return givesUp ? Status(StatusCode::Internal, "no") : kernel(1); });
    });
  };
  EXPECT_EQ(step(false).size(), 2U);
  EXPECT_THAT(step(true), IsEmpty());
  EXPECT_EQ(last.message(), "no");
  EXPECT_THAT(step(false), ElementsAre("[step k0 0, step k1 0]"));
}

// A graph can hold a collective whole, not a half of it.
TEST(Segments, AreClosedWhereEveryCollectiveEndsThatStarts) {
  auto closed = [](std::initializer_list<std::pair<uint32_t, uint64_t>> pieces) {
    Segment segment;
    for (auto [kernel, collective] : pieces) {
      std::array<void *, 3> operands = {std::bit_cast<void *>(collective)};
      size_t count = kernel == Piece::kStart ? 3 : 1;
      segment.add({kernel, std::span(operands).first(count)});
    }
    return segment.isClosed();
  };
  constexpr uint32_t kernel = 7, start = Piece::kStart, wait = Piece::kWait;
  EXPECT_TRUE(closed({}));
  EXPECT_TRUE(closed({{kernel, 0}, {start, 1}, {start, 2}, {kernel, 0}, {wait, 1}, {wait, 2}}));
  EXPECT_TRUE(closed({{start, 1}, {wait, 1}, {start, 1}, {wait, 1}}));
  EXPECT_FALSE(closed({{start, 1}, {kernel, 0}}));
  EXPECT_FALSE(closed({{kernel, 0}, {wait, 1}}));
  EXPECT_FALSE(closed({{wait, 1}, {start, 1}}));
  EXPECT_FALSE(closed({{start, 1}, {start, 2}, {wait, 1}}));
}

} // namespace
