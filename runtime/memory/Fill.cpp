#include "dlc/runtime/Fill.h"

#include "dlc/runtime/Float16.h"
#include "dlc/runtime/Philox.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace dlc {
namespace {

Status refuse(DType dtype, const std::string &expected, const std::string &found) {
  return {StatusCode::InvalidInput,
          "initial value of " + std::string(name(dtype)) + ": expected " + expected + ", found " + found};
}

template <typename T>
Status fillConstant(T *target, DType dtype, int64_t count, double constant) {
  if constexpr (std::is_integral_v<T>) {
    double low = dtype == DType::I1 ? 0 : static_cast<double>(std::numeric_limits<T>::min());
    // 2^(bits - 1) is exact in f64 where the largest i64 is not.
    double beyond = dtype == DType::I1 ? 2 : -static_cast<double>(std::numeric_limits<T>::min());
    if (!(constant >= low && constant < beyond && std::trunc(constant) == constant))
      return refuse(dtype, "a whole number in its range", std::to_string(constant));
  }
  std::fill_n(target, count, static_cast<T>(constant));
  return {};
}

/// The next number toward minus infinity.
template <typename T>
T below(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::nextafter(value, -std::numeric_limits<T>::infinity());
  else if (static_cast<double>(value) == 0)
    return T::fromBits(0x8001);
  else
    return T::fromBits(static_cast<uint16_t>(value.bits & 0x8000U ? value.bits + 1 : value.bits - 1));
}

template <typename T>
Status fillUniform(T *target, DType dtype, int64_t count, const InitialValue &value, uint64_t seed,
                   int64_t firstIndex) {
  T low = static_cast<T>(value.a), high = static_cast<T>(value.b);
  double least = static_cast<double>(low), end = static_cast<double>(high);
  if (!std::isfinite(least) || !std::isfinite(end) || !(least < end))
    return refuse(dtype, "finite bounds low < high", std::to_string(value.a) + " and " + std::to_string(value.b));
  auto largest = static_cast<double>(below(high));
  for (int64_t i = 0; i < count; ++i) {
    PhiloxWords words = philox(seed, value.offset, static_cast<uint64_t>(firstIndex + i));
    double u = !std::is_same_v<T, double> ? static_cast<double>(uniform01(words[0])) : uniform01(words[0], words[1]);
    // Halves, because high - low may overflow; rounding must not leave [low, high).
    T drawn = static_cast<T>(value.a + 2 * (u * (value.b / 2 - value.a / 2)));
    target[i] = static_cast<T>(std::clamp(static_cast<double>(drawn), least, largest));
  }
  return {};
}

template <typename T>
Status fillNormal(T *target, DType dtype, int64_t count, const InitialValue &value, uint64_t seed, int64_t firstIndex) {
  if (!std::isfinite(value.a) || !std::isfinite(value.b) || value.b < 0)
    return refuse(dtype, "a finite mean and a standard deviation >= 0",
                  std::to_string(value.a) + " and " + std::to_string(value.b));
  for (int64_t i = 0; i < count; ++i)
    target[i] = static_cast<T>(
        value.a + value.b * normalPair(philox(seed, value.offset, static_cast<uint64_t>(firstIndex + i)))[0]);
  return {};
}

template <typename T>
Status fillAs(T *target, DType dtype, int64_t count, const InitialValue &value, uint64_t seed, int64_t firstIndex) {
  using Kind = InitialValue::Kind;
  if (value.kind == Kind::Constant)
    return fillConstant(target, dtype, count, value.a);
  if constexpr (!std::is_integral_v<T>) {
    if (value.kind == Kind::Uniform)
      return fillUniform(target, dtype, count, value, seed, firstIndex);
    return fillNormal(target, dtype, count, value, seed, firstIndex);
  }
  return refuse(dtype, "zeros, a constant or data", value.kind == Kind::Uniform ? "uniform" : "normal");
}

} // namespace

Status fill(void *target, DType dtype, int64_t count, const InitialValue &value, uint64_t seed, int64_t firstIndex) {
  if (count < 0 || firstIndex < 0)
    return refuse(dtype, "a count and a first index >= 0",
                  std::to_string(count) + " and " + std::to_string(firstIndex));
  if (count == 0)
    return {};
  auto bytes = static_cast<size_t>(count * byteSize(dtype));
  if (value.kind == InitialValue::Kind::Zeros) {
    std::memset(target, 0, bytes);
    return {};
  }
  if (value.kind == InitialValue::Kind::Data) {
    if (!value.data)
      return refuse(dtype, "data", "none");
    std::memcpy(target, static_cast<const char *>(value.data) + firstIndex * byteSize(dtype), bytes);
    return {};
  }
  switch (dtype) {
  case DType::F64:
    return fillAs(static_cast<double *>(target), dtype, count, value, seed, firstIndex);
  case DType::F32:
    return fillAs(static_cast<float *>(target), dtype, count, value, seed, firstIndex);
  case DType::F16:
    return fillAs(static_cast<Float16 *>(target), dtype, count, value, seed, firstIndex);
  case DType::BF16:
    return fillAs(static_cast<BFloat16 *>(target), dtype, count, value, seed, firstIndex);
  case DType::I64:
    return fillAs(static_cast<int64_t *>(target), dtype, count, value, seed, firstIndex);
  case DType::I32:
    return fillAs(static_cast<int32_t *>(target), dtype, count, value, seed, firstIndex);
  case DType::I8:
  case DType::I1:
    return fillAs(static_cast<int8_t *>(target), dtype, count, value, seed, firstIndex);
  }
  return refuse(dtype, "a known element type", std::to_string(static_cast<int>(dtype)));
}

} // namespace dlc
