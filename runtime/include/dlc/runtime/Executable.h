#pragma once

#include "dlc/runtime/Abi.h"
#include "dlc/runtime/Manifest.h"
#include "dlc/runtime/Status.h"

#include <memory>
#include <optional>
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
  DlcEntry entry(size_t index) const { return image->entries[index]; }
  /// Index of the entry of that name, if there is one.
  std::optional<size_t> findEntry(std::string_view name) const;
  /// `bytes` of given initial values at `offset`; null when out of range.
  const void *initialData(uint64_t offset, uint64_t bytes) const;

private:
  Executable(Manifest &&manifest, const DlcImage *image, std::shared_ptr<const void> owner)
      : manifest_(std::move(manifest)), image(image), owner(std::move(owner)) {}

  Manifest manifest_;
  const DlcImage *image;
  std::shared_ptr<const void> owner;
};

/// The manifest of an artifact, read from the file without running any of its code.
StatusOr<Manifest> readManifest(const std::string &path);

} // namespace dlc
