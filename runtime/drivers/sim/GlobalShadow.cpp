#include "drivers/sim/GlobalShadow.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace dlc {

namespace {

uintptr_t addressOf(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// Zeros that take memory only where they are touched; null when there is none.
template <typename Element>
Element *reserve(size_t count) {
  void *memory = mmap(nullptr, count * sizeof(Element), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Element *>(memory);
}

template <typename Element>
void release(Element *memory, size_t count) {
  if (memory)
    munmap(memory, count * sizeof(Element));
}

void release(const ShadowRange &shadow, size_t bytes) {
  release(shadow.cells, bytes);
  release(shadow.written, bytes);
}

} // namespace

GlobalShadow::~GlobalShadow() {
  for (auto &[begin, region] : regions_)
    release(region.shadow, region.bytes);
}

void GlobalShadow::insert(uintptr_t begin, size_t bytes) {
  ShadowRange shadow{reserve<ShadowCell>(bytes), reserve<uint8_t>(bytes)};
  if (shadow.cells && shadow.written)
    regions_.emplace(begin, Region{bytes, shadow});
  else
    release(shadow, bytes); // the range stays unknown, and unchecked
}

void GlobalShadow::mark(const void *pointer, size_t bytes, uint8_t written) {
  if (!bytes)
    return;
  if (!range(pointer, bytes).written) {
    forget(pointer, bytes);
    insert(addressOf(pointer), bytes);
  }
  if (uint8_t *marks = range(pointer, bytes).written)
    std::memset(marks, written, bytes);
}

void GlobalShadow::copyMarks(const void *to, const void *from, size_t bytes) {
  if (!range(to, bytes).written)
    markWritten(to, bytes);
  const uint8_t *source = range(from, bytes).written;
  uint8_t *target = range(to, bytes).written;
  if (source && target)
    std::memmove(target, source, bytes);
  else
    markWritten(to, bytes);
}

void GlobalShadow::forget(const void *pointer, size_t bytes) {
  uintptr_t begin = addressOf(pointer), end = begin + bytes;
  auto next = regions_.upper_bound(begin);
  if (next != regions_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > begin)
    --next;
  while (next != regions_.end() && next->first < end) {
    release(next->second.shadow, next->second.bytes);
    next = regions_.erase(next);
  }
}

std::optional<size_t> GlobalShadow::firstUnwritten(const void *pointer, size_t bytes) const {
  const uint8_t *written = range(pointer, bytes).written;
  const void *found = written ? std::memchr(written, 0, bytes) : nullptr;
  if (!found)
    return std::nullopt;
  return size_t(static_cast<const uint8_t *>(found) - written);
}

ShadowRange GlobalShadow::range(const void *pointer, size_t bytes) const {
  uintptr_t begin = addressOf(pointer);
  auto next = regions_.upper_bound(begin);
  if (next == regions_.begin())
    return {};
  const auto &[first, region] = *std::prev(next);
  if (begin + bytes > first + region.bytes)
    return {};
  return {region.shadow.cells + (begin - first), region.shadow.written + (begin - first)};
}

} // namespace dlc
