#include "Conformance.h"

#include <algorithm>
#include <cstring>

namespace dlc::test {

TEST_P(Conformance, MemoryIsCounted) {
  int64_t peakBefore = device->memoryStats().peak;
  runtime::Arena first = allocate(1000);
  EXPECT_EQ(device->memoryStats().allocated, 1000);
  EXPECT_GE(device->memoryStats().reserved, 1000);
  {
    runtime::Arena second = allocate(100000);
    EXPECT_EQ(device->memoryStats().allocated, 101000);
    EXPECT_EQ(device->memoryStats().count, 2);
  }
  EXPECT_EQ(device->memoryStats().allocated, 1000);
  EXPECT_EQ(device->memoryStats().count, 1);
  EXPECT_EQ(device->memoryStats().peak, std::max<int64_t>(peakBefore, 101000));
}

TEST_P(Conformance, ArenasMoveAndEmptyOnesCostNothing) {
  runtime::Arena empty = allocate(0), one = allocate(1);
  EXPECT_EQ(empty.base(), nullptr);
  EXPECT_EQ(device->memoryStats().count, 1);
  char *base = one.base();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(base) % 256, 0U);
  runtime::Arena other = std::move(one);
  EXPECT_EQ(other.base(), base);
  EXPECT_EQ(other.bytes(), 1);
  EXPECT_EQ(device->memoryStats().count, 1);
}

TEST_P(Conformance, TooMuchIsRefusedAndChangesNothing) {
  runtime::Arena kept = allocate(64);
  runtime::MemoryStats before = device->memoryStats();
  StatusOr<runtime::Arena> huge = device->allocate("huge", int64_t(1) << 45);
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.status().code(), StatusCode::LimitExceeded);
  EXPECT_NE(huge.status().message().find("out of memory: arena 'huge' needs 35184372088832 bytes"), std::string::npos)
      << huge.status().message();
  EXPECT_EQ(device->memoryStats().allocated, before.allocated);
  EXPECT_EQ(device->memoryStats().peak, before.peak);
  EXPECT_FALSE(device->allocate("negative", -1).ok());
  EXPECT_TRUE(done(device->failure()));
  EXPECT_EQ(allocate(64).bytes(), 64);
}

TEST_P(Conformance, CopiesOfAnySizeAndOffset) {
  constexpr size_t kRoom = (1 << 20) + 200;
  runtime::Arena one = allocate(kRoom), other = allocate(kRoom);
  std::unique_ptr<runtime::Stream> queue = stream();
  for (size_t bytes : {0, 1, 3, 4, 7, 64, 1000, 4095, 4097, (1 << 20) + 3})
    for (size_t offset : {0, 1, 5, 63, 128}) {
      std::vector<std::byte> around = pattern(kRoom, 1), value = pattern(bytes, unsigned(bytes + offset)), back(kRoom);
      ASSERT_TRUE(done(queue->copyToDevice(one.base(), around.data(), kRoom)));
      ASSERT_TRUE(done(queue->copyToDevice(one.base() + offset, value.data(), int64_t(bytes))));
      ASSERT_TRUE(done(queue->copy(other.base(), one.base(), kRoom)));
      ASSERT_TRUE(done(queue->copy(other.base(), one.base() + offset, int64_t(bytes))));
      ASSERT_TRUE(done(queue->copyToHost(back.data(), other.base(), kRoom)));
      ASSERT_TRUE(done(queue->synchronize()));
      std::copy(value.begin(), value.end(), around.begin() + std::ptrdiff_t(offset));
      std::copy(value.begin(), value.end(), around.begin());
      ASSERT_EQ(back, around) << bytes << " bytes at " << offset;
    }
}

TEST_P(Conformance, FillSetsTheseBytesOnly) {
  std::vector<std::byte> expected = pattern(300, 2), back(300);
  runtime::Arena arena = allocate(300);
  std::unique_ptr<runtime::Stream> queue = stream();
  ASSERT_TRUE(done(queue->copyToDevice(arena.base(), expected.data(), 300)));
  ASSERT_TRUE(done(queue->fill(arena.base() + 13, 0xA5, 201)));
  ASSERT_TRUE(done(queue->fill(arena.base() + 5, 0x11, 0)));
  ASSERT_TRUE(done(queue->copyToHost(back.data(), arena.base(), 300)));
  ASSERT_TRUE(done(queue->synchronize()));
  std::memset(expected.data() + 13, 0xA5, 201);
  EXPECT_EQ(back, expected);
}

TEST_P(Conformance, CopiesThatOverlapAreRefused) {
  runtime::Arena arena = allocate(64);
  std::unique_ptr<runtime::Stream> queue = stream();
  EXPECT_FALSE(queue->copy(arena.base(), arena.base() + 8, 16).ok());
  EXPECT_FALSE(queue->copy(arena.base() + 15, arena.base(), 16).ok());
  EXPECT_TRUE(done(queue->copy(arena.base(), arena.base() + 16, 16)));
  EXPECT_TRUE(done(queue->copy(arena.base(), arena.base(), 16)));
  EXPECT_TRUE(done(queue->synchronize()));
}

TEST_P(Conformance, FreeingWaitsForTheWork) {
  std::vector<std::byte> value = pattern(5000, 3), back(5000);
  std::unique_ptr<runtime::Stream> queue = stream();
  {
    runtime::Arena arena = allocate(5000);
    ASSERT_TRUE(done(queue->copyToDevice(arena.base(), value.data(), 5000)));
    ASSERT_TRUE(done(queue->copyToHost(back.data(), arena.base(), 5000)));
  }
  EXPECT_EQ(back, value);
}

} // namespace dlc::test
