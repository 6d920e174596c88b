// Narrow types are checked against rounding done by hand on the exact value.
#include "JitKernel.h"

#include <bit>
#include <cmath>
#include <vector>

namespace {

std::string truncation(const std::string &from, const std::string &to) {
  return "llvm.func @k(%x: !llvm.ptr, %out: !llvm.ptr) {\n  %a = llvm.load %x {alignment = 4 : i64} : !llvm.ptr -> "
         "vector<16x" +
         from + ">\n  %r = arith.truncf %a : vector<16x" + from + "> to vector<16x" + to +
         ">\n  llvm.store %r, %out {alignment = 2 : i64} : vector<16x" + to + ">, !llvm.ptr\n  llvm.return\n}";
}

/// A 16-bit float's bits to its value; `mantissa` is 10 for f16 and 7 for bf16.
double valueOf(uint16_t bits, int mantissa) {
  int exponentBits = 15 - mantissa, bias = (1 << (exponentBits - 1)) - 1;
  int exponent = (bits >> mantissa) & ((1 << exponentBits) - 1), fraction = bits & ((1 << mantissa) - 1);
  double value = exponent == (1 << exponentBits) - 1 ? std::ldexp(1., bias + 1) // stands for infinity when rounding
                 : exponent == 0 ? std::ldexp(double(fraction), 1 - bias - mantissa)
                                 : std::ldexp(double(fraction + (1 << mantissa)), exponent - bias - mantissa);
  return bits & 0x8000 ? -value : value;
}

/// The nearest of the 65,536 values, ties to even bits: magnitudes grow with the bits, so a binary search finds it.
uint16_t nearest(double x, int mantissa) {
  uint16_t infinity = ((1 << (15 - mantissa)) - 1) << mantissa;
  double a = std::fabs(x);
  uint16_t low = 0, high = infinity;
  while (high - low > 1) {
    uint16_t middle = (low + high) / 2;
    (valueOf(middle, mantissa) <= a ? low : high) = middle;
  }
  double below = a - valueOf(low, mantissa), above = valueOf(high, mantissa) - a;
  uint16_t result = below < above || (below == above && low % 2 == 0) ? low : high;
  return result | (std::signbit(x) ? 0x8000 : 0);
}

template <typename T>
void checkTruncation(const std::string &to, int mantissa) {
  auto code = jitKernel(truncation(sizeof(T) == 4 ? "f32" : "f64", to));
  ASSERT_TRUE(code);
  auto kernel = symbol<void (*)(const T *, uint16_t *)>(*code, "k");
  // Each value, the border to the next larger magnitude, and what is just beside the border.
  uint16_t infinity = ((1 << (15 - mantissa)) - 1) << mantissa;
  for (int sign : {1, -1})
    for (uint16_t first = 0; first < infinity; first += 4) {
      T x[16];
      uint16_t out[16];
      for (int i = 0; i < 4; ++i) {
        double here = valueOf(first + i, mantissa), border = (here + valueOf(first + i + 1, mantissa)) / 2;
        T each[] = {T(here), T(border), std::nextafter(T(border), T(0)), std::nextafter(T(border), T(INFINITY))};
        for (int k = 0; k < 4; ++k)
          x[4 * i + k] = T(sign) * each[k];
      }
      kernel(x, out);
      for (int i = 0; i < 16; ++i)
        ASSERT_EQ(out[i], nearest(x[i], mantissa)) << to << " of " << std::hexfloat << x[i];
    }
  T special[16] = {T(INFINITY), -T(INFINITY), T(NAN), 0, -T(0)};
  uint16_t out[16];
  kernel(special, out);
  EXPECT_EQ(out[0], ((1 << (15 - mantissa)) - 1) << mantissa);
  EXPECT_EQ(out[1], out[0] | 0x8000);
  EXPECT_GT(out[2] & 0x7fff, out[0]) << "NaN stays NaN";
  EXPECT_EQ(out[3], 0);
  EXPECT_EQ(out[4], 0x8000);
}

template <typename T>
void checkExtension(const std::string &from, int mantissa) {
  std::string to = sizeof(T) == 4 ? "f32" : "f64";
  auto code =
      jitKernel("llvm.func @k(%x: !llvm.ptr, %out: !llvm.ptr) {\n  %a = llvm.load %x {alignment = 2 : i64} : "
                "!llvm.ptr -> vector<16x" +
                from + ">\n  %r = arith.extf %a : vector<16x" + from + "> to vector<16x" + to +
                ">\n  llvm.store %r, %out {alignment = 4 : i64} : vector<16x" + to + ">, !llvm.ptr\n  llvm.return\n}");
  ASSERT_TRUE(code);
  auto kernel = symbol<void (*)(const uint16_t *, T *)>(*code, "k");
  uint16_t infinity = ((1 << (15 - mantissa)) - 1) << mantissa;
  for (int first = 0; first < 65536; first += 16) {
    uint16_t x[16];
    T out[16];
    for (int i = 0; i < 16; ++i)
      x[i] = uint16_t(first + i);
    kernel(x, out);
    for (int i = 0; i < 16; ++i) {
      uint16_t magnitude = x[i] & 0x7fff;
      ASSERT_EQ(std::signbit(out[i]), x[i] >> 15 != 0) << x[i];
      if (magnitude > infinity)
        ASSERT_TRUE(std::isnan(out[i])) << x[i];
      else if (magnitude == infinity)
        ASSERT_TRUE(std::isinf(out[i])) << x[i];
      else
        ASSERT_EQ(out[i], T(valueOf(x[i], mantissa))) << x[i];
    }
  }
}

TEST(Rounding, F32ToBF16) { checkTruncation<float>("bf16", 7); }
TEST(Rounding, F64ToBF16) { checkTruncation<double>("bf16", 7); }
TEST(Rounding, F32ToF16) { checkTruncation<float>("f16", 10); }
TEST(Rounding, F64ToF16) { checkTruncation<double>("f16", 10); }
TEST(Rounding, BF16ToF32) { checkExtension<float>("bf16", 7); }
TEST(Rounding, BF16ToF64) { checkExtension<double>("bf16", 7); }
TEST(Rounding, F16ToF32) { checkExtension<float>("f16", 10); }
TEST(Rounding, F16ToF64) { checkExtension<double>("f16", 10); }

} // namespace
