#pragma once

#include "dlc/runtime/Status.h"

#include <compare>
#include <string>
#include <string_view>

namespace dlc {

/// Names one device of this machine: "cpu", "sim:1", "cuda:0".
struct DeviceId {
  std::string kind = "cpu";
  int index = 0;

  /// Reads "kind" (the first of its kind) or "kind:index". The kind must be known; whether such a device is here is
  /// found by Device::open.
  static StatusOr<DeviceId> parse(std::string_view text);

  /// "cpu", "sim:1".
  std::string str() const;

  friend auto operator<=>(const DeviceId &, const DeviceId &) = default;
};

} // namespace dlc
