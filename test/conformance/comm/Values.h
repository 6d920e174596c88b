#pragma once

#include "dlc/runtime/Communicator.h"
#include "dlc/runtime/DType.h"
#include "dlc/runtime/Float16.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

namespace dlc::test {

/// i1's element, one byte of 0 or 1, as a type of its own.
enum class Bit : uint8_t {};

template <typename T>
constexpr DType kType = DType::F32;
template <>
inline constexpr DType kType<double> = DType::F64;
template <>
inline constexpr DType kType<int64_t> = DType::I64;
template <>
inline constexpr DType kType<int32_t> = DType::I32;
template <>
inline constexpr DType kType<int8_t> = DType::I8;
template <>
inline constexpr DType kType<Bit> = DType::I1;
template <>
inline constexpr DType kType<Float16> = DType::F16;
template <>
inline constexpr DType kType<BFloat16> = DType::BF16;

/// What values of T are reduced in.
template <typename T>
using Accumulated = std::conditional_t<std::is_class_v<T>, float, T>;

/// Calls `body` with a value of each element type.
template <typename Body>
void forEachType(Body body) {
  body(float());
  body(double());
  body(int64_t());
  body(int32_t());
  body(int8_t());
  body(Bit());
  body(Float16());
  body(BFloat16());
}

/// Whether this is the long run (label slow).
inline bool slow() { return std::getenv("DLC_TEST_SLOW") != nullptr; }

inline std::vector<int64_t> sizes() {
  std::vector<int64_t> some = {0, 1, 7, 65536};
  if (slow())
    some.push_back((1 << 20) + 3);
  return some;
}

inline uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// An element of a member: numbers of many magnitudes, so that sums depend on their order; integers that overflow.
template <typename T>
T valueOf(int member, int64_t index, uint64_t seed) {
  uint64_t bits = mixed(mixed(uint64_t(index) + 0x9e3779b97f4a7c15 * uint64_t(member + 1)) + seed);
  if constexpr (std::is_floating_point_v<T> || std::is_class_v<T>)
    return T((double(int64_t(bits >> 11)) / double(int64_t(1) << 52) - 1) * double(1U << (bits % 24)) / 4096);
  else if constexpr (std::is_same_v<T, Bit>)
    return Bit(bits & 1U);
  else
    return T(bits);
}

template <typename T>
std::vector<T> valuesOf(int member, int64_t count, uint64_t seed) {
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    values[size_t(i)] = valueOf<T>(member, i, seed);
  return values;
}

template <typename T>
T combine(runtime::Reduce reduce, T a, T b) {
  if (reduce == runtime::Reduce::Max)
    return std::max(a, b);
  if (reduce == runtime::Reduce::Min)
    return std::min(a, b);
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return T(uint64_t(a) + uint64_t(b));
}

/// Elements [begin, begin + count) reduced over all members, each by the serial tree: neighbours first, then
/// neighbouring pairs, and so on; 16-bit floats as f32, rounded in the end.
template <typename T>
std::vector<T> reducedOf(runtime::Reduce reduce, int members, int64_t begin, int64_t count, uint64_t seed) {
  std::vector<T> result(static_cast<size_t>(count));
  std::array<Accumulated<T>, 16> values{};
  for (int64_t i = 0; i < count; ++i) {
    for (int m = 0; m < members; ++m)
      values[size_t(m)] = Accumulated<T>(valueOf<T>(m, begin + i, seed));
    for (int step = 1; step < members; step *= 2)
      for (int m = 0; m + step < members; m += 2 * step)
        values[size_t(m)] = combine(reduce, values[size_t(m)], values[size_t(m + step)]);
    result[size_t(i)] = T(values[0]);
  }
  return result;
}

/// Equality of bits.
template <typename T>
bool sameBits(const std::vector<T> &one, const std::vector<T> &other) {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0);
}

template <typename T>
runtime::Elements elements(std::vector<T> &values) {
  return {values.data(), int64_t(values.size()), kType<T>};
}

} // namespace dlc::test
