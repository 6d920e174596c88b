#pragma once

#include "dlc/runtime/Safetensors.h"

#include <array>

namespace dlc {

/// A safetensors file begins with the length of its header, little-endian.
constexpr uint64_t kSafetensorsLengthBytes = 8, kLongestSafetensorsHeader = 100'000'000;

/// A safetensors file before it is written; the data stay where they are.
struct SafetensorsImage {
  std::array<std::byte, kSafetensorsLengthBytes> length{};
  std::string header;
  std::vector<std::span<const std::byte>> data;

  /// The file's content in order, valid as long as this.
  std::vector<std::span<const std::byte>> chunks() const;
};

/// What writeSafetensors writes.
StatusOr<SafetensorsImage> layOutSafetensors(std::span<const TensorView> tensors,
                                             const SafetensorsMetadata &metadata = {});

} // namespace dlc
