#pragma once

#include "dlc/runtime/Store.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace dlc::runtime {

/// LimitExceeded: empty or too long a key.
Status checkKey(std::string_view key);

/// LimitExceeded: too long a value.
Status checkValue(std::string_view value);

/// The sum as the next value of a key that holds `text`. InvalidInput: no number, or the sum does not fit.
StatusOr<int64_t> addToText(std::string_view text, int64_t delta);

/// LimitExceeded: `key` did not come within the wait.
Status keyTimeout(std::string_view key);

/// The content of a store, with its limits; no threads, no waits.
class KeyTable {
public:
  /// The value, or nothing.
  const std::string *find(std::string_view key) const;

  Status set(std::string_view key, std::string_view value);
  StatusOr<int64_t> add(std::string_view key, int64_t delta);
  StatusOr<std::string> compareSet(std::string_view key, std::string_view expected, std::string_view desired);

private:
  std::map<std::string, std::string, std::less<>> values_;
  size_t bytes_ = 0;
};

} // namespace dlc::runtime
