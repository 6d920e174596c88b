#pragma once

#include "dlc/runtime/Abi.h"

#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>

namespace dlc::gpucheck {

/// Memory of the host for an argument or a result of an entry.
class HostBuffer {
public:
  explicit HostBuffer(int64_t bytes)
      : data_(static_cast<char *>(std::aligned_alloc(64, size_t(bytes + 64) / 64 * 64))), bytes_(bytes) {}
  HostBuffer(HostBuffer &&other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  HostBuffer &operator=(HostBuffer &&other) noexcept {
    std::swap(data_, other.data_);
    bytes_ = other.bytes_;
    return *this;
  }
  ~HostBuffer() { std::free(data_); }

  char *data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  DlcBuffer view() const { return {data_, bytes_}; }
  std::span<std::byte> span() const { return {reinterpret_cast<std::byte *>(data_), size_t(bytes_)}; }

private:
  char *data_;
  int64_t bytes_;
};

} // namespace dlc::gpucheck
