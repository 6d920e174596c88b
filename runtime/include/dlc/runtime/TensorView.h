#pragma once

#include "dlc/runtime/DType.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlc {

/// A named dense row-major array in memory somebody else owns; `data` may be unaligned (copy with memcpy).
struct TensorView {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  const void *data = nullptr;
};

/// Bytes of a dense array; nothing for a negative dimension or where the product exceeds 63 bits.
std::optional<int64_t> denseByteSize(DType dtype, std::span<const int64_t> shape);

/// "f32[2,3]", as messages print a type.
std::string typeString(DType dtype, std::span<const int64_t> shape);

} // namespace dlc
