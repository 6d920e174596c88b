// All 65,536 patterns, and the borders between neighbours, against values made by ldexp.
#include "dlc/runtime/Float16.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace dlc;

namespace {

/// The value of finite bits; of infinity what it stands for when rounding: the next power of two.
template <int mantissa>
double valueOf(uint16_t bits) {
  int exponentBits = 15 - mantissa, bias = (1 << (exponentBits - 1)) - 1;
  int exponent = (bits >> mantissa) & ((1 << exponentBits) - 1), fraction = bits & ((1 << mantissa) - 1);
  double magnitude = exponent ? std::ldexp(double(fraction + (1 << mantissa)), exponent - bias - mantissa)
                              : std::ldexp(double(fraction), 1 - bias - mantissa);
  return bits & 0x8000U ? -magnitude : magnitude;
}

template <int mantissa>
void checkAllPatterns() {
  using T = Float16Bits<mantissa>;
  constexpr int kInfinity = 0x7FFF >> mantissa << mantissa;
  for (int pattern = 0; pattern <= 0xFFFF; ++pattern) {
    auto bits = uint16_t(pattern);
    T value = T::fromBits(bits);
    bool isNegative = pattern & 0x8000;
    if ((pattern & 0x7FFF) > kInfinity) {
      ASSERT_TRUE(std::isnan(float(value))) << bits;
      uint16_t back = T(double(value)).bits;
      ASSERT_GT(back & 0x7FFF, kInfinity) << bits;
      continue;
    }
    ASSERT_EQ(T(double(value)).bits, bits);
    ASSERT_EQ(std::signbit(float(value)), isNegative);
    if ((pattern & 0x7FFF) == kInfinity) {
      ASSERT_TRUE(std::isinf(float(value)));
      continue;
    }
    ASSERT_EQ(double(value), valueOf<mantissa>(bits));
    // The border to the next larger magnitude, a tie for the one with even bits.
    double here = valueOf<mantissa>(bits), next = valueOf<mantissa>(uint16_t(bits + 1)), border = (here + next) / 2;
    ASSERT_EQ(T(border).bits, pattern % 2 ? bits + 1 : bits);
    ASSERT_EQ(T(std::nextafter(border, here)).bits, bits);
    ASSERT_EQ(T(std::nextafter(border, next)).bits, bits + 1);
  }
  EXPECT_EQ(T(std::nextafter(valueOf<mantissa>(1) / 2, 0.0)).bits, 0);
  EXPECT_EQ(T(-5e-324).bits, 0x8000);
  EXPECT_EQ(T(1e300).bits, kInfinity);
  EXPECT_EQ(T(-1e300).bits, kInfinity | 0x8000);
}

} // namespace

TEST(Float16, AllPatterns) { checkAllPatterns<10>(); }
TEST(Float16, AllPatternsOfBFloat16) { checkAllPatterns<7>(); }
