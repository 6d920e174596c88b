#include "dlc/runtime/Data.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace dlc {
namespace {

constexpr size_t bufferAlignment = 64;

/// Bytes of one row of `source`.
StatusOr<size_t> rowSize(const TensorView &source) {
  std::span<const int64_t> shape = source.shape;
  std::optional<int64_t> bytes = shape.empty() ? std::nullopt : denseByteSize(source.dtype, shape.subspan(1));
  if (!bytes || !denseByteSize(source.dtype, shape))
    return Status(StatusCode::InvalidInput,
                  "expected an array with rows to gather, found " + typeString(source.dtype, shape));
  return static_cast<size_t>(*bytes);
}

} // namespace

Status gatherRows(const TensorView &source, std::span<const int64_t> rows, void *target) {
  StatusOr<size_t> size = rowSize(source);
  if (!size.ok())
    return size.status();
  int64_t count = source.shape[0];
  auto outside = std::find_if(rows.begin(), rows.end(), [&](int64_t row) { return row < 0 || row >= count; });
  if (outside != rows.end())
    return {StatusCode::InvalidInput,
            "expected a row from 0 to " + std::to_string(count - 1) + ", found " + std::to_string(*outside)};
  if (*size == 0)
    return {};
  auto *to = static_cast<std::byte *>(target);
  for (int64_t row : rows) {
    std::memcpy(to, static_cast<const std::byte *>(source.data) + static_cast<size_t>(row) * *size, *size);
    to += *size;
  }
  return {};
}

StatusOr<TensorView> BatchBuffer::gather(const TensorView &source, std::span<const int64_t> rows) {
  StatusOr<size_t> size = rowSize(source);
  if (!size.ok())
    return size.status();
  size_t needed = 0;
  if (__builtin_mul_overflow(*size, rows.size(), &needed) || needed > SIZE_MAX / 2)
    return Status(StatusCode::LimitExceeded, "expected a batch below 2^63 bytes, found " + std::to_string(rows.size()) +
                                                 " rows of " + std::to_string(*size));
  if (needed > capacity_ || !memory_) {
    size_t capacity = std::max(bufferAlignment, (needed + bufferAlignment - 1) / bufferAlignment * bufferAlignment);
    memory_.reset(std::aligned_alloc(bufferAlignment, capacity));
    capacity_ = memory_ ? capacity : 0;
    if (!memory_)
      return Status(StatusCode::LimitExceeded, "no memory for a batch of " + std::to_string(needed) + " bytes");
  }
  if (Status status = gatherRows(source, rows, memory_.get()); !status.ok())
    return status;
  TensorView batch = source;
  batch.shape[0] = static_cast<int64_t>(rows.size());
  batch.data = memory_.get();
  return batch;
}

} // namespace dlc
