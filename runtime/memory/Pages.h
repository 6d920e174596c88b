#pragma once

#include "dlc/runtime/Status.h"

#include <cstdint>
#include <string>

namespace dlc {

/// One reservation of zeroed memory at a fixed address, 64-byte aligned, backed when created: running out of memory is
/// an answer here, not a signal later.
class Pages {
public:
  static StatusOr<Pages> create(const std::string &name, int64_t bytes);

  Pages() = default;
  Pages(Pages &&other) noexcept;
  Pages &operator=(Pages &&other) noexcept;
  ~Pages();

  char *base() const { return base_; }
  int64_t bytes() const { return bytes_; }
  /// What the reservation takes.
  int64_t mapped() const { return mapped_; }

  /// Bytes of memory this process may ever use; INT64_MAX where it cannot be told.
  static int64_t installedBytes();
  /// What the kernel or the control group would still give; INT64_MAX where it cannot be told.
  static int64_t availableBytes();

private:
  char *base_ = nullptr;
  int64_t bytes_ = 0;
  int64_t mapped_ = 0;
};

} // namespace dlc
