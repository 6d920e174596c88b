#include "dlc/runtime/SimAbi.h"
#include "drivers/sim/SimEngine.h"
#include "drivers/sim/SimServices.h"
#include "gmock/gmock.h"

#include <cstring>

using namespace dlc;
using testing::HasSubstr;

// Kernels as the compiler instruments them: each access announces itself first.

namespace {

constexpr DlcSimSite globalSite(DlcSimAccess access, int operand) {
  return {"model.py", 7, 3, access, DLC_SIM_GLOBAL, operand, 4, nullptr, 0, 0};
}
constexpr DlcSimSite sharedSite(DlcSimAccess access) {
  return {"model.py", 9, 1, access, DLC_SIM_SHARED, -1, 4, "tile", 64, 128};
}
constexpr DlcSimSite kLoad0 = globalSite(DLC_SIM_LOAD, 0), kLoadAny = globalSite(DLC_SIM_LOAD, -1);
constexpr DlcSimSite kStore0 = globalSite(DLC_SIM_STORE, 0), kUpdate0 = globalSite(DLC_SIM_ATOMIC, 0);
constexpr DlcSimSite kSharedLoad = sharedSite(DLC_SIM_LOAD), kSharedStore = sharedSite(DLC_SIM_STORE);

SimOptions checked(SimOrder order = SimOrder::Warp) {
  SimOptions options;
  options.check = true;
  options.order = order;
  return options;
}

/// Runs a kernel of two operands, of 256 and 64 bytes, in one buffer.
Status run(DlcSimKernel function, uint32_t grid, uint32_t block, SimOrder order = SimOrder::Warp,
           GlobalShadow *shadow = nullptr) {
  static std::vector<char> memory;
  memory.assign(320, 0);
  void *pointers[] = {memory.data(), memory.data() + 256};
  SimKernel kernel{"k", function, {grid, 1, 1}, {block, 1, 1}, {{256, SimAccess::ReadWrite}, {64, SimAccess::Read}}};
  if (shadow)
    shadow->markUnwritten(memory.data(), memory.size());
  return SimEngine(checked(order)).run(kernel, pointers, shadow);
}

float *element(void *const *pointers, uint32_t i) { return static_cast<float *>(pointers[0]) + i; }

uint32_t index(const DlcSimThread *self) { return self->block[0] * self->blockSize[0] + self->thread[0]; }

void loadOwn(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  simServices()->access(self, &kLoad0, element(pointers, index(self)), 4);
}

TEST(AccessChecker, AnotherOperandIsOutside) {
  EXPECT_TRUE(run(loadOwn, 2, 32).ok());
  EXPECT_EQ(run(loadOwn, 2, 33).message(),
            "kernel 'k', block (1,0,0), thread (31,0,0): reads 4 bytes at offset 256 of operand 0, which has 256 "
            "bytes; check the index and the guard of the last threads at model.py:7:3");
}

void loadAnything(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  simServices()->access(self, &kLoadAny, element(pointers, 79 + self->thread[0]), 4);
}

TEST(AccessChecker, PointersOfUnknownOrigin) {
  EXPECT_TRUE(run(loadAnything, 1, 1).ok());
  EXPECT_THAT(run(loadAnything, 1, 2).message(), HasSubstr("reads 4 bytes outside every operand of the kernel"));
}

void storeOwn(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  simServices()->access(self, &kStore0, element(pointers, index(self) % 32), 4);
}

void loadUnaligned(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  simServices()->access(self, &kLoad0, reinterpret_cast<char *>(element(pointers, 3)) + 2, 4);
}

TEST(AccessChecker, Alignment) {
  EXPECT_THAT(run(loadUnaligned, 1, 1).message(),
              HasSubstr("reads 4 bytes at offset 14 of operand 0, an address that is no multiple of 4"));
}

TEST(AccessChecker, TwoBlocksWriteOnePlace) {
  EXPECT_TRUE(run(storeOwn, 1, 32).ok());
  EXPECT_THAT(run(storeOwn, 2, 32).message(),
              HasSubstr("block (1,0,0), thread (0,0,0): writes offset 0 of operand 0, which thread (0,0,0) of block "
                        "(0,0,0) wrote; nothing orders two blocks"));
}

template <bool Atomic>
void update(void *const *pointers) {
  DlcSimThread *self = simServices()->self();
  simServices()->access(self, Atomic || index(self) != 40 ? &kUpdate0 : &kLoad0, element(pointers, 0), 4);
}

TEST(AccessChecker, AtomicsAreOrdered) {
  EXPECT_TRUE(run(update<true>, 2, 32).ok());
  EXPECT_THAT(run(update<false>, 2, 32).message(), HasSubstr("reads offset 0 of operand 0, which thread ("));
}

// Thread i writes its place of shared memory, something orders, and it reads its neighbour's.
enum class Between { Nothing, Shuffle, Warp, HalfWarp, Block };
template <Between Order>
void exchange(void *const *) {
  DlcSimThread *self = simServices()->self();
  auto *tile = static_cast<char *>(simServices()->shared(self, 256)) + 64;
  size_t i = self->thread[0];
  simServices()->access(self, &kSharedStore, tile + 4 * (i % 32), 4);
  if (Order == Between::Shuffle)
    simServices()->shuffle(self, DLC_SIM_SHUFFLE_XOR, ~0u, 0, 1, 31);
  else if (Order == Between::Warp)
    simServices()->warpBarrier(self, ~0u);
  else if (Order == Between::HalfWarp)
    simServices()->warpBarrier(self, i < 16 ? 0xFFFF : 0xFFFF0000);
  else if (Order == Between::Block)
    simServices()->barrier(self, &kSharedLoad);
  simServices()->access(self, &kSharedLoad, tile + 4 * ((i + 1) % 32), 4);
}

TEST(AccessChecker, OnlyBarriersOrderSharedMemory) {
  for (SimOrder order : {SimOrder::Forward, SimOrder::Reverse, SimOrder::Warp}) {
    EXPECT_TRUE(run(exchange<Between::Warp>, 3, 32, order).ok());
    EXPECT_TRUE(run(exchange<Between::Block>, 3, 32, order).ok());
    for (DlcSimKernel wrong : {exchange<Between::Nothing>, exchange<Between::Shuffle>, exchange<Between::HalfWarp>})
      EXPECT_THAT(run(wrong, 3, 32, order).message(),
                  testing::AnyOf(HasSubstr("nothing orders the two: a barrier is missing"),
                                 HasSubstr("which nobody has written")));
  }
  // Two warps write the same places.
  EXPECT_THAT(run(exchange<Between::Block>, 1, 64).message(),
              HasSubstr("thread (32,0,0): writes offset 0 of shared variable 'tile', which thread (0,0,0) wrote"));
}

void overwrite(void *const *) {
  DlcSimThread *self = simServices()->self();
  auto *tile = static_cast<char *>(simServices()->shared(self, 256)) + 64;
  if (self->thread[0] == 0)
    simServices()->access(self, &kSharedStore, tile, 4);
  simServices()->barrier(self, &kSharedLoad);
  simServices()->access(self, &kSharedLoad, tile, 4);
  if (self->thread[0] == 0)
    simServices()->access(self, &kSharedStore, tile, 4); // the others may still read
}

TEST(AccessChecker, OverwriteOfWhatOthersRead) {
  for (SimOrder order : {SimOrder::Forward, SimOrder::Reverse, SimOrder::Warp})
    EXPECT_THAT(run(overwrite, 1, 64, order).message(), HasSubstr("of shared variable 'tile', which thread ("));
}

void pastTheVariable(void *const *) {
  DlcSimThread *self = simServices()->self();
  auto *tile = static_cast<char *>(simServices()->shared(self, 256)) + 64;
  simServices()->access(self, &kSharedStore, tile + 4 * size_t(self->thread[0]), 4);
}

TEST(AccessChecker, PastTheSharedVariable) {
  EXPECT_TRUE(run(pastTheVariable, 1, 32).ok());
  EXPECT_THAT(run(pastTheVariable, 1, 33).message(),
              HasSubstr("writes 4 bytes at offset 128 of shared variable 'tile', which has 128 bytes"));
}

TEST(AccessChecker, UnwrittenMemory) {
  GlobalShadow shadow;
  EXPECT_THAT(run(loadOwn, 1, 32, SimOrder::Warp, &shadow).message(),
              HasSubstr("reads offset 0 of operand 0, which nobody has written; initialize it, or check the index"));
  EXPECT_TRUE(run(storeOwn, 1, 32, SimOrder::Warp, &shadow).ok());
}

TEST(GlobalShadow, MarksRanges) {
  std::vector<char> memory(100), other(100);
  GlobalShadow shadow;
  EXPECT_EQ(shadow.firstUnwritten(memory.data(), 100), std::nullopt); // unknown
  shadow.markUnwritten(memory.data(), 100);
  shadow.markWritten(memory.data(), 40);
  EXPECT_EQ(shadow.firstUnwritten(memory.data(), 40), std::nullopt);
  EXPECT_EQ(shadow.firstUnwritten(memory.data() + 10, 90), 30u);
  shadow.copyMarks(other.data(), memory.data() + 20, 50);
  EXPECT_EQ(shadow.firstUnwritten(other.data(), 50), 20u);
  shadow.forget(memory.data(), 100);
  EXPECT_EQ(shadow.range(memory.data(), 1).written, nullptr);
}

} // namespace
