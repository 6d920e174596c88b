#pragma once

#include <bit>
#include <cstdint>

namespace dlc {

/// A float of 16 bits as memory holds it: sign, exponent, `mantissa` bits. Arithmetic is that of f32 and f64.
template <int mantissa>
class Float16Bits {
public:
  constexpr Float16Bits() = default;
  /// Rounds once to nearest even; NaN stays NaN (quiet), beyond the largest becomes infinity. An f32 is exact in f64.
  constexpr explicit Float16Bits(double value) : bits(round(value)) {}
  static constexpr Float16Bits fromBits(uint16_t bits) {
    Float16Bits result;
    result.bits = bits;
    return result;
  }
  /// Exact.
  constexpr explicit operator float() const;
  constexpr explicit operator double() const { return double(float(*this)); }

  uint16_t bits = 0;

private:
  static constexpr int exponentBits = 15 - mantissa, bias = (1 << (exponentBits - 1)) - 1;
  static constexpr uint16_t infinity = uint16_t(((1 << exponentBits) - 1) << mantissa);

  static constexpr uint16_t round(double value);
};

/// IEEE 754 binary16.
using Float16 = Float16Bits<10>;
/// The upper half of an f32.
using BFloat16 = Float16Bits<7>;

template <int mantissa>
constexpr Float16Bits<mantissa>::operator float() const {
  uint32_t sign = uint32_t(bits >> 15) << 31, rest = bits & 0x7FFFU, exponent = rest >> mantissa;
  if (exponent == 0) // a multiple of the smallest: exact in f64 for both, and in f32 as far as its subnormals go
    return std::bit_cast<float>(
        sign |
        std::bit_cast<uint32_t>(float(double(rest) * std::bit_cast<double>(uint64_t(1024 - bias - mantissa) << 52))));
  bool isSpecial = rest >= infinity;
  uint32_t wide = isSpecial ? 255 : exponent + uint32_t(127 - bias);
  return std::bit_cast<float>(sign | wide << 23 | (rest & ((1U << mantissa) - 1)) << (23 - mantissa));
}

template <int mantissa>
constexpr uint16_t Float16Bits<mantissa>::round(double value) {
  auto all = std::bit_cast<uint64_t>(value);
  auto sign = uint16_t(all >> 63 << 15);
  uint64_t fraction = all & ((uint64_t(1) << 52) - 1);
  int exponent = int(all >> 52 & 0x7FF);
  if (exponent == 0x7FF) {
    uint64_t quiet = fraction ? (fraction >> (52 - mantissa)) | uint64_t(1) << (mantissa - 1) : 0;
    return uint16_t(sign | infinity | quiet);
  }
  int target = exponent - 1023 + bias; // below 1: subnormal, more bits fall away
  int shift = 52 - mantissa + (target < 1 ? 1 - target : 0);
  if (exponent == 0 || shift > 54)
    return sign;
  uint64_t whole = fraction | uint64_t(1) << 52;
  uint64_t kept = (whole + (uint64_t(1) << (shift - 1)) - 1 + (whole >> shift & 1)) >> shift;
  // The leading bit, and a carry out of the fraction, add one to the exponent.
  uint64_t result = (uint64_t(target < 1 ? 0 : target - 1) << mantissa) + kept;
  return uint16_t(sign | (result < infinity ? result : infinity));
}

} // namespace dlc
