#pragma once

#include "dlc/runtime/Abi.h"
#include "dlc/runtime/DeviceId.h"
#include "dlc/runtime/Manifest.h"
#include "dlc/runtime/Status.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dlc {

/// Compiled code and its manifest, immutable and without state; Sessions share it.
class Executable {
public:
  /// Loads an artifact. Its ELF headers are checked before any of its code runs; an artifact is trusted as a program
  /// is.
  static StatusOr<std::shared_ptr<const Executable>> load(const std::string &path);

  /// Code already in this process; `owner` keeps the image alive.
  static StatusOr<std::shared_ptr<const Executable>> fromImage(const DlcImage &image,
                                                               std::shared_ptr<const void> owner);

  const Manifest &manifest() const { return manifest_; }
  /// Whether it was compiled for the cpu.
  bool hasEntries() const { return image->entries != nullptr; }
  DlcEntry entry(size_t index) const { return image->entries[index]; }
  /// The same for devices with kernels of their own.
  bool hasDeviceEntries() const { return since(1) && image->deviceEntries; }
  DlcEntry deviceEntry(size_t index) const { return image->deviceEntries[index]; }
  /// The kernels for the simulated device, by index of the manifest; none when not compiled for it.
  std::span<const DlcSimKernel> simKernels() const;
  /// Where those find their services; null when there are none.
  const struct DlcSimApi **simApi() const { return since(1) ? image->simApi : nullptr; }
  /// The kernels for other devices.
  std::span<const DlcDeviceCode> deviceCode() const;
  /// The failure of loading it on a device that needs `target`: what it has, and what to compile with.
  Status notCompiledFor(const DeviceId &device, std::string_view target) const;

  /// Index of the entry of that name, if there is one.
  std::optional<size_t> findEntry(std::string_view name) const;
  /// `bytes` of given initial values at `offset`; null when out of range.
  const void *initialData(uint64_t offset, uint64_t bytes) const;

private:
  Executable(Manifest &&manifest, const DlcImage *image, std::shared_ptr<const void> owner)
      : manifest_(std::move(manifest)), image(image), owner(std::move(owner)) {}

  /// An older image ends before what later minor versions appended.
  bool since(uint32_t minor) const { return (image->abi & 0xFFFFU) >= minor; }

  Manifest manifest_;
  const DlcImage *image;
  std::shared_ptr<const void> owner;
};

/// The manifest of an artifact, read from the file without running any of its code.
StatusOr<Manifest> readManifest(const std::string &path);

} // namespace dlc
