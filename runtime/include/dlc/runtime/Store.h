#pragma once

#include "dlc/runtime/Status.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dlc::runtime {

/// When a wait ends with an error.
using Deadline = std::chrono::steady_clock::time_point;

/// What every store refuses to exceed, in bytes: one key, one value, all keys and values together.
constexpr size_t kLongestStoreKey = 256, kLongestStoreValue = size_t{1} << 20, kStoreCapacity = size_t{64} << 20;

/// Keys and values that the processes of a job share: how they find each other and agree. Any thread may call; waits do
/// not hold up other threads. LimitExceeded: too large, or not there at the deadline; PeerFailed: the store itself is
/// lost.
class Store {
public:
  virtual ~Store() = default;

  virtual Status set(std::string_view key, std::string_view value) = 0;

  /// The value, as soon as there is one; a deadline in the past only looks.
  virtual StatusOr<std::string> get(std::string_view key, Deadline deadline) = 0;

  /// The value as soon as it differs from `known`; a key that is not there has the value "".
  virtual StatusOr<std::string> watch(std::string_view key, std::string_view known, Deadline deadline) = 0;

  /// Adds to a number (0 where there is none) and returns the sum; the value is its decimal text.
  virtual StatusOr<int64_t> add(std::string_view key, int64_t delta) = 0;

  /// Sets `desired` if the value is `expected` ("": also if there is none). Returns the value afterwards: `desired` on
  /// success.
  virtual StatusOr<std::string> compareSet(std::string_view key, std::string_view expected,
                                           std::string_view desired) = 0;

  /// Gives a key this value as soon as this process, or its connection, is gone: how others learn of its end. Few keys.
  virtual Status setWhenLost(std::string_view key, std::string_view value) = 0;

  /// Waits as get does, without the value.
  Status wait(std::string_view key, Deadline deadline) { return get(key, deadline).status(); }
};

/// A store for the threads of one process.
std::unique_ptr<Store> createMemoryStore();

} // namespace dlc::runtime
