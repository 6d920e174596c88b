#include "dlc/runtime/Sharding.h"

#include <gtest/gtest.h>

#include <numeric>

namespace dlc::runtime {

namespace {

/// data = 2, model = 3.
MeshInfo mesh() { return {{{"data", 2}, {"model", 3}}}; }

TEST(Sharding, CoordinatesAreRowMajor) {
  EXPECT_EQ(coordinateOf(mesh(), "data", 4), 1);
  EXPECT_EQ(coordinateOf(mesh(), "model", 4), 1);
  EXPECT_EQ(coordinateOf(mesh(), "none", 4), 0);
}

// 5 x 4 over data (3 and 2 rows) and model (2, 2 and 0 columns); a part is 3 x 2 with padding.
TEST(Sharding, PartsOfAllMembersMakeTheWhole) {
  ValueInfo value{"x", {DType::F32, {3, 2}}, ShardingInfo{{5, 4}, {{{"data"}, {0, 3, 5}}, {{"model"}, {0, 2, 4, 4}}}}};
  std::vector<float> whole(20), joined(20, -1);
  std::iota(whole.begin(), whole.end(), 0.0F);
  for (int64_t member = 0; member < 6; ++member) {
    std::vector<float> part(6, 99);
    takePart(value, mesh(), member, whole.data(), part.data());
    int64_t row = member / 3 * 3, column = member % 3 * 2, rows = member / 3 == 0 ? 3 : 2, columns = column < 4 ? 2 : 0;
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 2; ++j)
        EXPECT_EQ(part[size_t(2 * i + j)], i < rows && j < columns ? whole[size_t((row + i) * 4 + column + j)] : 99);
    putPart(value, mesh(), member, part.data(), joined.data());
  }
  EXPECT_EQ(joined, whole);
}

TEST(Sharding, AxesTogetherSplitOneDimension) {
  ValueInfo value{"x", {DType::I64, {1, 2}}, ShardingInfo{{5, 2}, {{{"data", "model"}, {0, 1, 2, 3, 4, 5, 5}}, {}}}};
  Part part = partOf(*value.sharding, mesh(), 4);
  EXPECT_EQ(part.begin, (std::vector<int64_t>{4, 0}));
  EXPECT_EQ(part.extent, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(partOf(*value.sharding, mesh(), 5).extent[0], 0);
}

TEST(Sharding, WhatIsNotSplitIsCopied) {
  ValueInfo value{"x", {DType::I8, {3}}};
  std::array<int8_t, 3> whole = {1, 2, 3}, part{};
  takePart(value, mesh(), 1, whole.data(), part.data());
  EXPECT_EQ(part, whole);
  EXPECT_EQ(wholeType(value), value.type);
}

} // namespace

} // namespace dlc::runtime
