#pragma once

#include "dlc/runtime/Status.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace dlc::runtime {

/// When waiting ends with an error.
using Deadline = std::chrono::steady_clock::time_point;

/// Keys and values that all processes of a job share while they find each other. Any thread may call.
class Store {
public:
  virtual ~Store() = default;

  virtual Status set(std::string_view key, std::string_view value) = 0;

  /// Waits until somebody has set `key`; LimitExceeded, with the key's name, when the deadline passes first.
  virtual StatusOr<std::string> get(std::string_view key, Deadline deadline) = 0;

  /// Adds to a decimal number, 0 while nobody has set it; returns the sum.
  virtual StatusOr<int64_t> add(std::string_view key, int64_t delta) = 0;

  /// Waits as get does, without the value.
  Status wait(std::string_view key, Deadline deadline) { return get(key, deadline).status(); }
};

} // namespace dlc::runtime
