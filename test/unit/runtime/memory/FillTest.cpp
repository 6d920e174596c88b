#include "dlc/runtime/Fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

using namespace dlc;
using Kind = InitialValue::Kind;

namespace {

template <typename T>
std::vector<T> filled(DType dtype, int64_t count, const InitialValue &value, uint64_t seed = 0) {
  std::vector<T> values(static_cast<size_t>(count), T(42));
  Status status = fill(values.data(), dtype, count, value, seed);
  EXPECT_TRUE(status.ok()) << status.message();
  return values;
}

struct Moments {
  double mean = 0, variance = 0, fourth = 0;
};

template <typename T>
Moments moments(const std::vector<T> &values) {
  Moments result;
  auto n = static_cast<double>(values.size());
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  for (T value : values) {
    double squared = (value - result.mean) * (value - result.mean);
    result.variance += squared / n;
    result.fourth += squared * squared / n;
  }
  return result;
}

std::string problem(DType dtype, const InitialValue &value) {
  double room[4];
  return fill(room, dtype, 4, value, 0).message();
}

constexpr int64_t many = 100000;

} // namespace

// Bounds are five standard errors of the estimate: sqrt(variance / n), sqrt((fourth - variance^2) / n).
TEST(Fill, UniformMomentsAndRange) {
  InitialValue value{.kind = Kind::Uniform, .a = -0.5, .b = 1.5};
  for (uint64_t seed : {0, 1, 2}) {
    std::vector<float> values = filled<float>(DType::F32, many, value, seed);
    auto [low, high] = std::minmax_element(values.begin(), values.end());
    EXPECT_GE(*low, -0.5F);
    EXPECT_LT(*high, 1.5F);
    EXPECT_LT(*low, -0.499F);
    EXPECT_GT(*high, 1.499F);
    Moments found = moments(values);
    EXPECT_NEAR(found.mean, 0.5, 5 * std::sqrt(1.0 / 3 / many));
    EXPECT_NEAR(found.variance, 1.0 / 3, 5 * std::sqrt((1.0 / 5 - 1.0 / 9) / many));
  }
}

TEST(Fill, NormalMoments) {
  InitialValue value{.kind = Kind::Normal, .a = 3, .b = 2};
  Moments wide = moments(filled<double>(DType::F64, many, value));
  EXPECT_NEAR(wide.mean, 3, 5 * 2 / std::sqrt(many));
  EXPECT_NEAR(wide.variance, 4, 5 * std::sqrt((48.0 - 16.0) / many));
  EXPECT_NEAR(wide.fourth, 48, 5 * std::sqrt((105.0 * 256 - 48.0 * 48) / many));
  std::vector<float> single = filled<float>(DType::F32, many, value);
  std::vector<double> same = filled<double>(DType::F64, many, value);
  for (size_t i = 0; i < single.size(); ++i)
    ASSERT_EQ(single[i], static_cast<float>(same[i]));
}

TEST(Fill, NeighboursAndOffsetsAreUncorrelated) {
  auto correlation = [](const std::vector<double> &left, const std::vector<double> &right) {
    return std::inner_product(left.begin(), left.end(), right.begin(), 0.0) / static_cast<double>(left.size());
  };
  InitialValue value{.kind = Kind::Normal, .a = 0, .b = 1};
  std::vector<double> first = filled<double>(DType::F64, many, value);
  std::vector<double> shifted(first.begin() + 1, first.end());
  shifted.push_back(first.front());
  value.offset = 1;
  std::vector<double> next = filled<double>(DType::F64, many, value);
  value.offset = 0;
  std::vector<double> otherSeed = filled<double>(DType::F64, many, value, 1);
  for (const std::vector<double> &other : {shifted, next, otherSeed})
    EXPECT_NEAR(correlation(first, other), 0, 5 / std::sqrt(many));
}

TEST(Fill, PartsEqualTheWhole) {
  for (Kind kind : {Kind::Uniform, Kind::Normal, Kind::Data}) {
    std::vector<float> source(1000);
    std::iota(source.begin(), source.end(), 0.0F);
    InitialValue value{.kind = kind, .a = 0, .b = 1, .offset = uint64_t{1} << 40U, .data = source.data()};
    std::vector<float> whole = filled<float>(DType::F32, 1000, value, 7);
    std::vector<float> parts(1000);
    for (int64_t begin : {0, 1, 17, 512}) {
      int64_t end = begin == 0 ? 1 : begin == 1 ? 17 : begin == 17 ? 512 : 1000;
      ASSERT_TRUE(fill(parts.data() + begin, DType::F32, end - begin, value, 7, begin).ok());
    }
    EXPECT_EQ(parts, whole);
  }
}

TEST(Fill, UniformStaysBelowItsUpperBound) {
  // Two neighbouring floats: every draw must round to the lower one.
  float low = 1.0F, high = std::nextafter(low, 2.0F);
  InitialValue value{.kind = Kind::Uniform, .a = low, .b = high};
  EXPECT_THAT(filled<float>(DType::F32, 1000, value), testing::Each(low));
  value = {.kind = Kind::Uniform, .a = -1.5e308, .b = 1.5e308}; // b - a overflows
  EXPECT_THAT(filled<double>(DType::F64, 1000, value),
              testing::Each(testing::AllOf(testing::Ge(-1.5e308), testing::Lt(1.5e308))));
}

TEST(Fill, ZerosConstantsAndData) {
  EXPECT_THAT(filled<int32_t>(DType::I32, 3, {}), testing::Each(0));
  EXPECT_THAT(filled<double>(DType::F64, 3, {.kind = Kind::Constant, .a = 0.1}), testing::Each(0.1));
  EXPECT_THAT(filled<float>(DType::F32, 3, {.kind = Kind::Constant, .a = 0.1}), testing::Each(0.1F));
  EXPECT_THAT(filled<int64_t>(DType::I64, 3, {.kind = Kind::Constant, .a = -0x1p63}), testing::Each(INT64_MIN));
  EXPECT_THAT(filled<int8_t>(DType::I8, 3, {.kind = Kind::Constant, .a = -128}), testing::Each(-128));
  EXPECT_THAT(filled<uint8_t>(DType::I1, 3, {.kind = Kind::Constant, .a = 1}), testing::Each(1));
  EXPECT_TRUE(fill(nullptr, DType::F32, 0, {}, 0).ok());
}

TEST(Fill, RefusesWhatTheTypeCannotHold) {
  EXPECT_EQ(problem(DType::I8, {.kind = Kind::Constant, .a = 128}),
            "initial value of i8: expected a whole number in its range, found 128.000000");
  EXPECT_NE(problem(DType::I64, {.kind = Kind::Constant, .a = 0x1p63}), "");
  EXPECT_NE(problem(DType::I32, {.kind = Kind::Constant, .a = 0.5}), "");
  EXPECT_NE(problem(DType::I1, {.kind = Kind::Constant, .a = 2}), "");
  EXPECT_NE(problem(DType::I32, {.kind = Kind::Constant, .a = NAN}), "");
  EXPECT_EQ(problem(DType::I64, {.kind = Kind::Normal, .a = 0, .b = 1}),
            "initial value of i64: expected zeros, a constant or data, found normal");
  EXPECT_NE(problem(DType::F32, {.kind = Kind::Uniform, .a = 1, .b = 1}), "");
  EXPECT_NE(problem(DType::F32, {.kind = Kind::Uniform, .a = 0, .b = 1e39}), "");
  EXPECT_NE(problem(DType::F32, {.kind = Kind::Normal, .a = 0, .b = -1}), "");
  EXPECT_EQ(problem(DType::F32, {.kind = Kind::Data}), "initial value of f32: expected data, found none");
  EXPECT_NE(fill(nullptr, DType::F32, -1, {}, 0).message(), "");
}
