#pragma once

#include "dlc/runtime/Store.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace dlc::runtime::test {

/// A kind of store: `open` gives one more view of the same content; what it shares lives as long as the function.
struct StoreKind {
  std::string name;
  std::function<std::function<std::unique_ptr<Store>()>()> make;
};

/// The deadline `milliseconds` from now.
inline Deadline within(int milliseconds) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
}

/// What every store must do the same way.
class StoreTest : public ::testing::TestWithParam<StoreKind> {
protected:
  std::function<std::unique_ptr<Store>()> open = GetParam().make();
  std::unique_ptr<Store> store = open();
};

} // namespace dlc::runtime::test
