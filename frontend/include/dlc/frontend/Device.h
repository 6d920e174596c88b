#pragma once

#include "dlc/frontend/Error.h"

#include <cstdint>
#include <string>

namespace dlc {

namespace record {
class Place;
}

/// Where a tensor lives: "cpu", "sim:0" (a simulated device), "cuda:0"; without a number the one that this process has
/// in its job (see distributed::device), else the first of its kind. An Error says in one sentence why there is no such
/// device.
class Device {
public:
  Device();
  Device(const char *text, Where where = Where::current()) : Device(std::string(text), where) {}
  Device(const std::string &text, Where where = Where::current());
  explicit Device(record::Place &place) : place_(&place) {}
  /// "cpu", "sim:0".
  const std::string &str() const;
  bool operator==(const Device &) const = default;

  record::Place &place() const { return *place_; }

private:
  record::Place *place_;
};

/// While it lives, new tensors and modules of this thread are on the device.
class DeviceScope {
public:
  explicit DeviceScope(Device device);
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

private:
  record::Place *before;
};

/// Devices of a kind ("cpu", "sim", "cuda") in this process.
int device_count(const std::string &kind);
inline bool is_available(const std::string &kind) { return device_count(kind) > 0; }

/// Bytes of tensors and state on a device.
struct MemoryStats {
  /// In use now.
  int64_t allocated = 0;
  /// Taken from the device: in use, and kept to be used again.
  int64_t reserved = 0;
  /// The most that was in use.
  int64_t peak = 0;
};
MemoryStats memory_stats(const Device &device = {});
/// Gives memory back that is kept to be used again, on all devices, and compiled programs that nobody can run any more
/// with the state only they knew.
void release_unused();

} // namespace dlc
