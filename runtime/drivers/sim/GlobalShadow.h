#pragma once

#include "drivers/sim/AccessClock.h"

#include <cstddef>
#include <map>
#include <optional>

namespace dlc {

/// Who touched one byte of memory in the running launch.
struct ShadowCell {
  AccessStamp writer, reader, otherReader; ///< the last of each; the readers are two threads
  uint32_t writerBlock = 0, readerBlock = 0;
};

/// What the checks know about a range of memory, byte by byte.
struct ShadowRange {
  ShadowCell *cells = nullptr;
  uint8_t *written = nullptr; ///< 1: holds a value
};

/// The checks' knowledge of one device's memory: which bytes hold a value, and who touched them in the running launch.
/// Kept by the driver, used by one thread at a time. Ranges may be marked in any pieces of an allocation.
class GlobalShadow {
public:
  GlobalShadow() = default;
  ~GlobalShadow();
  GlobalShadow(const GlobalShadow &) = delete;
  GlobalShadow &operator=(const GlobalShadow &) = delete;

  /// A new allocation, or content that must not be read any more (an arena at the begin of a call).
  void markUnwritten(const void *pointer, size_t bytes) { mark(pointer, bytes, 0); }
  /// Content given by the host.
  void markWritten(const void *pointer, size_t bytes) { mark(pointer, bytes, 1); }
  /// A copy within the device: what was not written at `from` is not written at `to`.
  void copyMarks(const void *to, const void *from, size_t bytes);
  /// The memory is given back. A range that overlaps an allocation takes all of it.
  void forget(const void *pointer, size_t bytes);

  /// Offset of the first byte of the range that holds no value, or nothing. Unknown memory holds values.
  std::optional<size_t> firstUnwritten(const void *pointer, size_t bytes) const;

  /// The knowledge of a range that lies in one allocation; null pointers when there is none.
  ShadowRange range(const void *pointer, size_t bytes) const;

private:
  struct Region {
    size_t bytes;
    ShadowRange shadow;
  };

  void mark(const void *pointer, size_t bytes, uint8_t written);
  void insert(uintptr_t begin, size_t bytes);

  std::map<uintptr_t, Region> regions_; // disjoint, by first address
};

} // namespace dlc
