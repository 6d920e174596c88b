#pragma once

#include "dlc/runtime/Safetensors.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dlc {

/// One tensor as the header states it; only the header itself is checked, not the data it speaks of.
struct SafetensorsEntry {
  TensorView view; // data stays null
  uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;
  SafetensorsMetadata metadata;
};

/// Reads the JSON text of a header; positions in messages count from `fileOffset`.
StatusOr<SafetensorsHeader> parseSafetensorsHeader(std::string_view json, uint64_t fileOffset);

/// `text` as a JSON string with its quotes; an error where it is not UTF-8.
StatusOr<std::string> jsonString(std::string_view text);

} // namespace dlc
