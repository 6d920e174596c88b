#include "Conformance.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace dlc::test {

// Before any device is opened; what the environment says counts more.
[[maybe_unused]] static const int kLibrarySet = setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, /*replace=*/0);
[[maybe_unused]] static const int kDevicesSet = setenv("DLCFAKE_DEVICES", "2", /*replace=*/0);

void Conformance::SetUp() {
  StatusOr<DeviceId> id = DeviceId::parse(GetParam());
  ASSERT_TRUE(done(id.status()));
  std::vector<runtime::Device::Kind> kinds = runtime::Device::kinds();
  auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto &each) { return each.name == id->kind; });
  ASSERT_NE(kind, kinds.end());
  if (id->index >= kind->count)
    GTEST_SKIP() << GetParam() << ": " << (kind->count ? "there are fewer" : kind->why);
  StatusOr<runtime::Device *> opened = runtime::Device::open(*id);
  ASSERT_TRUE(done(opened.status()));
  device = *opened;
}

void Conformance::TearDown() {
  if (!device)
    return;
  EXPECT_EQ(device->memoryStats().count, 0);
  EXPECT_EQ(device->memoryStats().allocated, 0);
  EXPECT_EQ(device->memoryStats().reserved, 0);
  EXPECT_TRUE(done(device->failure()));
}

runtime::Arena Conformance::allocate(int64_t bytes) {
  StatusOr<runtime::Arena> arena = device->allocate("test", bytes);
  EXPECT_TRUE(done(arena.status()));
  return arena.ok() ? arena.take() : runtime::Arena();
}

std::unique_ptr<runtime::Stream> Conformance::stream() {
  StatusOr<std::unique_ptr<runtime::Stream>> made = device->createStream();
  EXPECT_TRUE(done(made.status()));
  return made.take();
}

std::unique_ptr<runtime::Event> Conformance::event() {
  StatusOr<std::unique_ptr<runtime::Event>> made = device->createEvent();
  EXPECT_TRUE(done(made.status()));
  return made.take();
}

testing::AssertionResult done(const Status &status) {
  return status.ok() ? testing::AssertionSuccess() : testing::AssertionFailure() << status.message();
}

std::vector<std::byte> pattern(size_t bytes, unsigned seed) {
  std::vector<std::byte> made(bytes);
  unsigned state = seed * 2654435761U + 1;
  for (std::byte &each : made)
    each = std::byte((state = state * 1664525U + 1013904223U) >> 24U);
  return made;
}

INSTANTIATE_TEST_SUITE_P(On, Conformance, testing::ValuesIn(kBackends), [](const auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});

} // namespace dlc::test
