#pragma once

#include "dlc/runtime/Device.h"
#include "dlc/runtime/DeviceUse.h"

#include <array>
#include <cstdint>

namespace dlc::runtime {

/// What a driver offers: devices 0 … count - 1 of one kind.
struct Driver {
  std::string_view kind;
  /// How many there are; none is a failure that says why.
  StatusOr<int> (*count)();
  StatusOr<std::unique_ptr<Device>> (*open)(int index);
  /// How busy they are, whoever uses them; null: known of this process alone.
  StatusOr<std::unique_ptr<UseProbe>> (*watch)() = nullptr;
  /// Whether traces show that: for devices beside the processors.
  bool traced = false;
  /// Whether processes see the same ones, so that ranks of a host share them out.
  bool ofHost = false;
};

extern const Driver kCpuDriver;
extern const Driver kSimDriver;
extern const Driver kCudaDriver;

/// All drivers of this build: a new one adds its line here.
inline constexpr std::array kDrivers = {&kCpuDriver, &kSimDriver, &kCudaDriver};

/// Whether two ranges of so many bytes overlap without being the same.
inline bool overlapPartly(const void *one, const void *other, int64_t bytes) {
  auto first = reinterpret_cast<uintptr_t>(one), second = reinterpret_cast<uintptr_t>(other);
  return first != second && (first < second ? second - first : first - second) < uint64_t(bytes);
}
/// Stream::copy's answer to that.
Status overlapping(const DeviceId &device, int64_t bytes);

} // namespace dlc::runtime
