#pragma once

#include "dlc/frontend/Error.h"

#include <string>

namespace dlc {

/// Where a tensor lives: "cpu" or "cpu:0". Anything else is an Error.
class Device {
public:
  Device(const char *text = "cpu", Where where = Where::current()) : Device(std::string(text), where) {}
  Device(const std::string &text, Where where = Where::current());
  /// "cpu:0".
  std::string str() const { return "cpu:0"; }
  bool operator==(const Device &) const = default;
};

} // namespace dlc
