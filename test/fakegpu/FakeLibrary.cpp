#include "FakeLibrary.h"

#include "dlc/runtime/Float16.h"

#include <bit>
#include <cstdio>
#include <cstring>

namespace dlc::fakegpu {

bool DeviceRange::overlaps(const DeviceRange &other) const {
  const char *mine = static_cast<const char *>(address), *theirs = static_cast<const char *>(other.address);
  return bytes > 0 && other.bytes > 0 && mine < theirs + other.bytes && theirs < mine + bytes;
}

std::vector<char *> translate(CUctx_st &context, std::span<const DeviceRange> ranges, size_t written) {
  std::vector<char *> found;
  for (size_t i = 0; i < ranges.size(); ++i) {
    StatusOr<char *> memory = ranges[i].bytes == 0 ? StatusOr<char *>(nullptr)
                                                   : context.memory->translate(ranges[i].address, ranges[i].bytes);
    if (!memory.ok()) {
      std::fprintf(stderr, "fakegpu: %s\n", memory.status().message().c_str());
      return {};
    }
    found.push_back(*memory);
    for (size_t j = 0; j < i; ++j)
      if (i + written >= ranges.size() && ranges[i].overlaps(ranges[j])) {
        std::fprintf(stderr, "fakegpu: what a library call writes overlaps what else it uses\n");
        return {};
      }
  }
  return found;
}

namespace {

template <typename T>
T load(const char *base, int64_t index) {
  T value;
  std::memcpy(&value, base + index * int64_t(sizeof value), sizeof value);
  return value;
}

template <typename T>
void store(char *base, int64_t index, T value) {
  std::memcpy(base + index * int64_t(sizeof value), &value, sizeof value);
}

} // namespace

double readElement(const char *base, int64_t index, DType type) {
  if (type == DType::F16)
    return double(load<Float16>(base, index));
  if (type == DType::BF16)
    return double(load<BFloat16>(base, index));
  return load<float>(base, index);
}

void writeElement(char *base, int64_t index, DType type, double value) {
  if (type == DType::F16)
    store(base, index, Float16(value));
  else if (type == DType::BF16)
    store(base, index, BFloat16(value));
  else
    store(base, index, float(value));
}

double asTf32(double value) {
  constexpr uint32_t kKept = ~((uint32_t(1) << 13) - 1);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(float(value)) & kKept);
}

} // namespace dlc::fakegpu
