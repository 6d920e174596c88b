#include "drivers/sim/SimDevice.h"

#include <gmock/gmock.h>

#include <array>

using namespace dlc;
using namespace dlc::runtime;
using testing::HasSubstr;

namespace {

using Bytes = std::array<unsigned char, 8>;

struct SimDeviceTest : testing::Test {
  SimDevice device{7, {.late = true, .memory = 40000}, {}};
  Arena arena = device.allocate("a", 100).take();
  std::unique_ptr<Stream> stream = device.createStream().take();
  Bytes value = {1, 2, 3, 4, 5, 6, 7, 8}, back = {};
};

TEST_F(SimDeviceTest, NothingIsDoneBeforeSomebodyWaits) {
  ASSERT_TRUE(stream->copyToDevice(arena.base(), value.data(), 8).ok());
  ASSERT_TRUE(stream->copyToHost(back.data(), arena.base(), 8).ok());
  EXPECT_EQ(back, Bytes{});
  value[0] = 9; // the caller broke its word: seen
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(back, (Bytes{9, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(SimDeviceTest, AMissingWaitShows) {
  std::unique_ptr<Stream> other = device.createStream().take();
  ASSERT_TRUE(stream->copyToDevice(arena.base(), value.data(), 8).ok());
  ASSERT_TRUE(other->copyToHost(back.data(), arena.base(), 8).ok());
  ASSERT_TRUE(other->synchronize().ok());
  EXPECT_THAT(back, testing::Each(0xFF)); // as memory starts
  std::unique_ptr<Event> event = device.createEvent().take();
  ASSERT_TRUE(stream->record(*event).ok());
  ASSERT_TRUE(other->wait(*event).ok());
  ASSERT_TRUE(other->copyToHost(back.data(), arena.base(), 8).ok());
  ASSERT_TRUE(other->synchronize().ok());
  EXPECT_EQ(back, value);
}

TEST_F(SimDeviceTest, ManyHopsNeedNoDeepStack) {
  std::unique_ptr<Stream> other = device.createStream().take();
  std::unique_ptr<Event> event = device.createEvent().take();
  Stream *turns[] = {stream.get(), other.get()};
  for (int i = 0; i < 100000; ++i) {
    ASSERT_TRUE(turns[i % 2]->wait(*event).ok());
    ASSERT_TRUE(turns[i % 2]->record(*event).ok());
  }
  EXPECT_TRUE(event->synchronize().ok());
}

TEST_F(SimDeviceTest, TheHostCannotTouchItsMemory) {
  EXPECT_DEATH(*static_cast<volatile char *>(arena.base()) = 1, "");
}

TEST_F(SimDeviceTest, WrongAddressesAreNamed) {
  EXPECT_EQ(stream->copyToDevice(arena.base() + 96, value.data(), 8).message(),
            "sim:7: the target of a copy: 8 bytes from byte 96 of arena 'a', which has 100");
  EXPECT_EQ(stream->copyToHost(back.data(), value.data(), 8).message(),
            "sim:7: the source of a copy: not in the device's memory");
  EXPECT_EQ(stream->fill(arena.base(), 0, -1).message(), "sim:7: expected a number of bytes, got -1");
}

TEST_F(SimDeviceTest, TheLimitIsKept) {
  EXPECT_EQ(device.memoryBytes(), 40000);
  EXPECT_EQ(device.allocate("b", 39901).status().message(),
            "out of memory: arena 'b' needs 39901 bytes, sim:7 has 39900 of its 40000 left");
  arena = Arena();
  StatusOr<Arena> all = device.allocate("b", 40000);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(device.allocate("c", 1).status().message(),
            "out of memory: arena 'c' needs 1 bytes, sim:7 has 0 of its 40000 left");
}

TEST(SimDevice, DiscardedMemoryMustBeWrittenAgain) {
  SimDevice device(6, {.late = false, .memory = {}}, {.check = true});
  Arena arena = device.allocate("scratch", 64).take();
  std::unique_ptr<Stream> stream = device.createStream().take();
  std::array<unsigned char, 4> value = {1, 2, 3, 4}, back = {};
  ASSERT_TRUE(stream->copyToDevice(arena.base(), value.data(), 4).ok());
  std::optional<size_t> unwritten;
  char *bytes = device.memory().translate(arena.base(), 4).take();
  device.note([&](GlobalShadow &shadow) { unwritten = shadow.firstUnwritten(bytes, 8); });
  EXPECT_EQ(unwritten, 4U);
  ASSERT_TRUE(stream->discard(arena.base(), 4).ok());
  device.note([&](GlobalShadow &shadow) { unwritten = shadow.firstUnwritten(bytes, 8); });
  EXPECT_EQ(unwritten, 0U);
  ASSERT_TRUE(stream->copyToHost(back.data(), arena.base(), 4).ok());
  EXPECT_THAT(back, testing::Each(0xFF));
}

TEST(DeviceId, ReadsWhatItWrites) {
  for (const char *text : {"cpu", "sim:0", "sim:12", "cuda:3"})
    EXPECT_EQ(DeviceId::parse(text).value().str(), text);
  EXPECT_EQ(DeviceId::parse("sim").value().str(), "sim:0");
  EXPECT_EQ(DeviceId::parse("cpu:0").value().str(), "cpu");
  for (const char *text : {"", ":", "gpu", "sim:", "sim:-1", "sim:1x", "sim:99999999999", "sim:1:2", "CPU"})
    EXPECT_THAT(DeviceId::parse(text).status().message(), HasSubstr("expected a device, one of cpu, sim:N, cuda:N"))
        << text;
}

} // namespace
