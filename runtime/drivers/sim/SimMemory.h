#pragma once

#include "dlc/runtime/DeviceId.h"
#include "memory/Pages.h"

#include <map>
#include <mutex>
#include <string>

namespace dlc::runtime {

/// The memory of a simulated device, of which the host must not touch a byte: an address given out belongs to a range
/// without access, so that using it ends the program there. Copies and kernels get the bytes behind it.
class SimMemory {
public:
  /// `limit` bytes in all.
  SimMemory(DeviceId device, int64_t limit) : device(std::move(device)), limit_(limit) {}
  ~SimMemory();
  SimMemory(const SimMemory &) = delete;
  SimMemory &operator=(const SimMemory &) = delete;

  int64_t limit() const { return limit_; }

  /// Each byte at first, so that what nobody has written shows as a NaN.
  static constexpr int kNobodyWrote = 0xFF;

  /// At least `bytes` bytes. Returns the address.
  StatusOr<char *> reserve(const std::string &name, int64_t bytes);
  /// What the reservation at this address takes.
  int64_t reserved(const char *address) const;
  void release(const char *address);

  /// The bytes behind [address, address + bytes), which must lie inside one reservation.
  StatusOr<char *> translate(const void *address, int64_t bytes) const;

private:
  struct Piece {
    std::string name;
    int64_t bytes = 0; ///< asked for
    Pages pages;
  };
  /// The range that holds the address, or the end.
  std::map<const char *, Piece>::const_iterator find(const char *address) const;

  DeviceId device;
  int64_t limit_, used = 0;
  mutable std::mutex lock;
  std::map<const char *, Piece> pieces;
};

} // namespace dlc::runtime
