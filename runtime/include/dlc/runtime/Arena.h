#pragma once

#include <cstdint>
#include <utility>

namespace dlc::runtime {

class Device;

/// A piece of a device's memory at a fixed address, aligned to 256 bytes; made by Device::allocate. Only on the cpu may
/// the host use its bytes, elsewhere a Stream copies them. Freeing waits for the device's work.
class Arena {
public:
  Arena() = default;
  Arena(Arena &&other) noexcept
      : device(other.device), base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
        reserved(std::exchange(other.reserved, 0)) {}
  Arena &operator=(Arena &&other) noexcept {
    std::swap(device, other.device);
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    std::swap(reserved, other.reserved);
    return *this;
  }
  ~Arena();

  char *base() const { return base_; }
  int64_t bytes() const { return bytes_; }

private:
  friend class Device;

  Device *device = nullptr;
  char *base_ = nullptr; // null where there are no bytes
  int64_t bytes_ = 0;
  int64_t reserved = 0;
};

} // namespace dlc::runtime
