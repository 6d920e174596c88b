#pragma once

#include "dlc/runtime/Device.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace dlc::test {

/// The devices this suite runs on: a backend adds its line.
inline const char *const kBackends[] = {
    "cpu",
    "sim:0",
    "sim:1",
    "cuda:0", // of test/fakegpu, or a GPU with DLC_GPU_LIBRARY set to nothing
};

/// What every device must do the same way. Expected values come from the same work done on host memory.
class Conformance : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override;
  /// Nothing of a test is left on the device.
  void TearDown() override;

  runtime::Arena allocate(int64_t bytes);
  std::unique_ptr<runtime::Stream> stream();
  std::unique_ptr<runtime::Event> event();

  runtime::Device *device = nullptr;
};

/// Passes, or fails with the message.
testing::AssertionResult done(const Status &status);

/// Bytes that no two places share for long.
std::vector<std::byte> pattern(size_t bytes, unsigned seed);

} // namespace dlc::test
