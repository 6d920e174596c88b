#pragma once

#include "dlc/runtime/Status.h"

#include <cstdint>
#include <string>

namespace dlc {

/// One reservation of zeroed memory at a fixed address, 64-byte aligned, backed when created: running out of memory is
/// an answer here, not a signal later.
class Arena {
public:
  static StatusOr<Arena> create(const std::string &name, int64_t bytes);

  Arena() = default;
  Arena(Arena &&other) noexcept;
  Arena &operator=(Arena &&other) noexcept;
  ~Arena();

  char *base() const { return base_; }
  int64_t bytes() const { return bytes_; }

private:
  char *base_ = nullptr;
  int64_t bytes_ = 0;
  int64_t mapped = 0;
};

} // namespace dlc
