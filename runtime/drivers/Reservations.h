#pragma once

#include "dlc/runtime/Status.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace dlc::runtime {

/// The ranges of a device's memory that are in use, with what they are for.
class Reservations {
public:
  void add(const char *base, std::string name, int64_t bytes);
  void remove(const char *base);

  /// Whether [address, address + bytes) lies inside one of them.
  Status check(const void *address, int64_t bytes) const;

private:
  struct Range {
    std::string name;
    int64_t bytes = 0;
  };
  mutable std::mutex lock;
  std::map<const char *, Range> ranges;
};

} // namespace dlc::runtime
