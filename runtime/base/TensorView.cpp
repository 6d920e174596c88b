#include "dlc/runtime/TensorView.h"

namespace dlc {

std::optional<int64_t> denseByteSize(DType dtype, std::span<const int64_t> shape) {
  int64_t bytes = byteSize(dtype);
  for (int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes))
      return std::nullopt;
  return bytes;
}

std::string typeString(DType dtype, std::span<const int64_t> shape) {
  std::string text(name(dtype));
  const char *separator = "[";
  for (int64_t dim : shape) {
    text += separator + std::to_string(dim);
    separator = ",";
  }
  return text + (shape.empty() ? "[]" : "]");
}

} // namespace dlc
