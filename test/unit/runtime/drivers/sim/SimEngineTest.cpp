#include "drivers/sim/SimEngine.h"
#include "dlc/runtime/SimAbi.h"
#include "drivers/sim/SimServices.h"
#include "gmock/gmock.h"

#include <numeric>

using namespace dlc;
using testing::HasSubstr;

// Kernels as a compiler would write them: what they know of the engine is the table of services.

namespace {

SimOptions with(SimOrder order, SimCopy copy = SimCopy::Late) {
  SimOptions options;
  options.order = order;
  options.copy = copy;
  options.threads = 2;
  return options;
}

std::vector<SimOptions> modes() {
  return {with(SimOrder::Forward),     with(SimOrder::Reverse), with(SimOrder::Warp),
          with(SimOrder::WarpReverse), with(SimOrder::Random),  with(SimOrder::Warp, SimCopy::Eager)};
}

uint32_t index(const DlcSimThread *self) { return self->block[0] * self->blockSize[0] + self->thread[0]; }

void writeIndex(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  static_cast<uint32_t *>(pointers[0])[index(self)] = index(self);
}

TEST(SimEngine, EveryThreadRunsOnce) {
  for (const SimOptions &options : modes()) {
    SimEngine engine(options);
    std::vector<uint32_t> out(3700);
    void *pointers[] = {out.data()};
    SimKernel kernel{"writeIndex", writeIndex, {37, 1, 1}, {100, 1, 1}, {}};
    ASSERT_TRUE(engine.run(kernel, pointers).ok());
    for (uint32_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], i);
  }
}

void writeRegisters(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  uint32_t place = 0;
  for (int axis = 2; axis >= 0; --axis)
    place = place * self->gridSize[axis] + self->block[axis];
  for (int axis = 2; axis >= 0; --axis)
    place = place * self->blockSize[axis] + self->thread[axis];
  ++static_cast<uint32_t *>(pointers[0])[place];
}

TEST(SimEngine, SpecialRegistersCoverThreeDimensions) {
  SimEngine engine(with(SimOrder::Reverse));
  std::vector<uint32_t> out(720);
  void *pointers[] = {out.data()};
  SimKernel kernel{"writeRegisters", writeRegisters, {2, 3, 4}, {5, 2, 3}, {}};
  ASSERT_TRUE(engine.run(kernel, pointers).ok());
  EXPECT_THAT(out, testing::Each(1));
}

// out[block] = sum of in[block][0..255]: halves of the block added through shared memory.
void sumBlock(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  auto *sums = static_cast<float *>(simServices()->shared(self, 256 * sizeof(float)));
  uint32_t i = self->thread[0];
  sums[i] = static_cast<const float *>(pointers[0])[index(self)];
  for (uint32_t half = 128; half; half /= 2) {
    simServices()->barrier(self, nullptr);
    if (i < half)
      sums[i] += sums[i + half];
  }
  if (i == 0)
    static_cast<float *>(pointers[1])[self->block[0]] = sums[0];
}

TEST(SimEngine, BarriersOrderSharedMemory) {
  for (const SimOptions &options : modes()) {
    SimEngine engine(options);
    std::vector<float> in(5120), out(20);
    std::iota(in.begin(), in.end(), 0.0f);
    void *pointers[] = {in.data(), out.data()};
    SimKernel kernel{"sumBlock", sumBlock, {20, 1, 1}, {256, 1, 1}, {}};
    ASSERT_TRUE(engine.run(kernel, pointers).ok());
    for (int block = 0; block < 20; ++block)
      ASSERT_EQ(out[block], 256.0f * 256 * block + 255 * 128); // exact in f32
  }
}

// Without the barrier before the second half's reads.
void sumBlockWithoutBarrier(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  auto *sums = static_cast<float *>(simServices()->shared(self, 64 * sizeof(float)));
  uint32_t i = self->thread[0];
  sums[i] = 1;
  static_cast<float *>(pointers[0])[i] = sums[63 - i];
}

TEST(SimEngine, SharedMemoryStartsAsNaN) {
  for (SimOrder order : {SimOrder::Forward, SimOrder::Reverse, SimOrder::Warp, SimOrder::WarpReverse}) {
    SimEngine engine(with(order));
    std::vector<float> out(64);
    void *pointers[] = {out.data()};
    SimKernel kernel{"k", sumBlockWithoutBarrier, {1, 1, 1}, {64, 1, 1}, {}};
    ASSERT_TRUE(engine.run(kernel, pointers).ok());
    EXPECT_THAT(out, testing::Contains(testing::IsNan()));
  }
}

void barrierInABranch(void *const *) {
  DlcSimThread *self = simServices()->self();
  if (self->thread[0] < 32)
    simServices()->barrier(self, nullptr);
}

TEST(SimEngine, BarrierThatSomeThreadsSkip) {
  for (const SimOptions &options : modes()) {
    SimEngine engine(options);
    SimKernel kernel{"skips", barrierInABranch, {3, 1, 1}, {64, 1, 1}, {}};
    Status status = engine.run(kernel, nullptr);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr("kernel 'skips', block ("));
    EXPECT_THAT(status.message(), HasSubstr("reached by 32 of 64 threads"));
    // The engine goes on with the next launch.
    std::vector<uint32_t> out(64);
    void *pointers[] = {out.data()};
    EXPECT_TRUE(engine.run({"writeIndex", writeIndex, {1, 1, 1}, {64, 1, 1}, {}}, pointers).ok());
    EXPECT_EQ(out[63], 63u);
  }
}

void shuffleInABranch(void *const *) {
  DlcSimThread *self = simServices()->self();
  if (self->lane < 16)
    simServices()->shuffle(self, DLC_SIM_SHUFFLE_XOR, ~0u, 1, 1, 31);
  simServices()->barrier(self, nullptr);
}

TEST(SimEngine, ShuffleThatSomeLanesSkipIsADeadlock) {
  for (const SimOptions &options : modes()) {
    Status status = SimEngine(options).run({"k", shuffleInABranch, {1, 1, 1}, {64, 1, 1}, {}}, nullptr);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr("deadlock: 32 of 64 running threads wait at a barrier"));
  }
}

void shuffleOutsideItsMask(void *const *) {
  DlcSimThread *self = simServices()->self();
  simServices()->shuffle(self, DLC_SIM_SHUFFLE_XOR, 0xFFFF, 1, 1, 31);
}

TEST(SimEngine, LaneMissingFromItsMask) {
  Status status =
      SimEngine(with(SimOrder::Forward)).run({"k", shuffleOutsideItsMask, {1, 1, 1}, {32, 1, 1}, {}}, nullptr);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("thread (16,0,0): calls a warp operation whose mask"));
}

void shuffles(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  auto *out = static_cast<uint64_t *>(pointers[0]) + size_t(4) * self->lane;
  uint32_t value = 100 + self->lane;
  out[0] = simServices()->shuffle(self, DLC_SIM_SHUFFLE_XOR, ~0u, value, 5, 31);
  out[1] = simServices()->shuffle(self, DLC_SIM_SHUFFLE_UP, ~0u, value, 3, 0);
  out[2] = simServices()->shuffle(self, DLC_SIM_SHUFFLE_DOWN, ~0u, value, 3, 31);
  out[3] = simServices()->shuffle(self, DLC_SIM_SHUFFLE_INDEX, ~0u, value, 2, (24 << 8) | 31); // segments of 8 lanes
}

TEST(SimEngine, ShufflesFollowPtx) {
  for (const SimOptions &options : modes()) {
    SimEngine engine(options);
    std::vector<uint64_t> out(128);
    void *pointers[] = {out.data()};
    ASSERT_TRUE(engine.run({"shuffles", shuffles, {1, 1, 1}, {32, 1, 1}, {}}, pointers).ok());
    constexpr uint64_t inRange = uint64_t(1) << 32;
    for (uint64_t lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(out[4 * lane], inRange | (100 + (lane ^ 5)));
      EXPECT_EQ(out[4 * lane + 1], lane >= 3 ? inRange | (97 + lane) : 100 + lane);
      EXPECT_EQ(out[4 * lane + 2], lane < 29 ? inRange | (103 + lane) : 100 + lane);
      EXPECT_EQ(out[4 * lane + 3], inRange | (100 + (lane & 24) + 2));
    }
  }
}

void votes(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  auto *out = static_cast<uint32_t *>(pointers[0]) + size_t(5) * self->lane;
  uint32_t half = self->lane < 16 ? 0xFFFF : 0xFFFF0000;
  out[0] = simServices()->vote(self, DLC_SIM_VOTE_BALLOT, ~0u, self->lane % 3 == 0);
  out[1] = simServices()->vote(self, DLC_SIM_VOTE_ALL, half, self->lane < 16);
  out[2] = simServices()->vote(self, DLC_SIM_VOTE_ANY, half, self->lane == 3);
  out[3] = simServices()->vote(self, DLC_SIM_VOTE_EQUAL, ~0u, self->lane < 16);
  out[4] = simServices()->match(self, ~0u, self->lane / 4);
}

TEST(SimEngine, VotesAndMatches) {
  for (const SimOptions &options : modes()) {
    SimEngine engine(options);
    std::vector<uint32_t> out(160);
    void *pointers[] = {out.data()};
    ASSERT_TRUE(engine.run({"votes", votes, {1, 1, 1}, {32, 1, 1}, {}}, pointers).ok());
    for (size_t lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(out[5 * lane], 0x49249249u); // bits 0, 3, 6, …, 30
      EXPECT_EQ(out[5 * lane + 1], lane < 16 ? 1u : 0u);
      EXPECT_EQ(out[5 * lane + 2], lane < 16 ? 1u : 0u);
      EXPECT_EQ(out[5 * lane + 3], 0u);
      EXPECT_EQ(out[5 * lane + 4], 15u << (lane / 4 * 4));
    }
  }
}

// Each thread copies 16 bytes in, waits too weakly or not at all, and copies them out.
template <uint32_t Pending>
void copyThrough(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  size_t offset = size_t(16) * self->thread[0];
  auto *buffer = static_cast<char *>(simServices()->shared(self, 512)) + offset;
  simServices()->copyAsync(self, nullptr, buffer, static_cast<char *>(pointers[0]) + offset, 16,
                           self->thread[0] == 31 ? 4 : 16);
  simServices()->commitCopies(self);
  simServices()->waitCopies(self, Pending);
  std::memcpy(static_cast<char *>(pointers[1]) + offset, buffer, 16);
}

TEST(SimEngine, AsynchronousCopies) {
  std::vector<float> in(128, 1.5f), expected = in;
  std::fill(expected.end() - 3, expected.end(), 0.0f); // beyond the source's bytes
  for (const SimOptions &options : modes()) {
    std::vector<float> out(128), weak(128);
    void *pointers[] = {in.data(), out.data()}, *weakPointers[] = {in.data(), weak.data()};
    SimEngine engine(options);
    ASSERT_TRUE(engine.run({"k", copyThrough<0>, {1, 1, 1}, {32, 1, 1}, {}}, pointers).ok());
    EXPECT_EQ(out, expected);
    ASSERT_TRUE(engine.run({"k", copyThrough<1>, {1, 1, 1}, {32, 1, 1}, {}}, weakPointers).ok());
    EXPECT_EQ(weak == expected, options.copy == SimCopy::Eager);
  }
}

void atomicCount(void *const *pointers) { std::atomic_ref(*static_cast<uint32_t *>(pointers[0])).fetch_add(1); }

TEST(SimEngine, AtomicsOfManyBlocks) {
  SimEngine engine(with(SimOrder::Warp));
  uint32_t total = 0;
  void *pointers[] = {&total};
  ASSERT_TRUE(engine.run({"count", atomicCount, {1000, 1, 1}, {128, 1, 1}, {}}, pointers).ok());
  EXPECT_EQ(total, 128000u);
}

TEST(SimEngine, RefusesBlocksThatNoDeviceRuns) {
  Status status = SimEngine(with(SimOrder::Warp)).run({"k", writeIndex, {1, 1, 1}, {1025, 1, 1}, {}}, nullptr);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "kernel 'k': expects a block of 1 to 1024 threads, got 1025");
  status = SimEngine(with(SimOrder::Warp)).run({"k", nullptr, {1, 1, 1}, {1, 1, 1}, {}}, nullptr);
  EXPECT_THAT(status.message(), HasSubstr("compile with the target sim"));
}

TEST(SimOptions, Environment) {
  EXPECT_EQ(withOrder({}, "random:7")->seed, 7u);
  EXPECT_EQ(withOrder({}, "warp-reverse")->order, SimOrder::WarpReverse);
  EXPECT_EQ(withCopy({}, "eager")->copy, SimCopy::Eager);
  EXPECT_EQ(withOrder({}, "random:x").status().message(),
            "expects the seed of the order of simulated devices as a number, got 'random:x'");
  EXPECT_THAT(withOrder({}, "backwards").status().message(), HasSubstr("forward, reverse, warp, warp-reverse"));
}

} // namespace
