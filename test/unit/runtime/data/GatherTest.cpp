#include "dlc/runtime/Data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dlc;

TEST(Gather, RowsGoToAnAlignedBuffer) {
  std::vector<float> values{0, 1, 10, 11, 20, 21};
  TensorView source{"x", DType::F32, {3, 1, 2}, values.data()};
  BatchBuffer buffer;
  std::vector<int64_t> rows{2, 0, 2};
  StatusOr<TensorView> batch = buffer.gather(source, rows);
  ASSERT_TRUE(batch.ok()) << batch.status().message();
  EXPECT_EQ(batch->shape, (std::vector<int64_t>{3, 1, 2}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(batch->data) % 64, 0U);
  EXPECT_THAT(std::span(static_cast<const float *>(batch->data), 6), testing::ElementsAre(20, 21, 0, 1, 20, 21));
  const void *memory = batch->data;
  batch = buffer.gather(source, std::span(rows).first(1));
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->data, memory);
  EXPECT_EQ(batch->shape[0], 1);
}

TEST(Gather, ReadsUnalignedSources) {
  std::vector<char> bytes(1 + 4 * sizeof(int64_t));
  std::vector<int64_t> labels{7, 8, 9, 10};
  std::copy_n(reinterpret_cast<const char *>(labels.data()), 32, bytes.begin() + 1);
  TensorView source{"y", DType::I64, {4}, bytes.data() + 1};
  int64_t target[2];
  ASSERT_TRUE(gatherRows(source, std::vector<int64_t>{3, 1}, target).ok());
  EXPECT_THAT(target, testing::ElementsAre(10, 8));
}

TEST(Gather, RefusesRowsOutside) {
  float values[2] = {};
  BatchBuffer buffer;
  TensorView source{"x", DType::F32, {2}, values};
  EXPECT_EQ(buffer.gather(source, std::vector<int64_t>{0, 2}).status().message(),
            "expected a row from 0 to 1, found 2");
  EXPECT_EQ(buffer.gather(source, std::vector<int64_t>{-1}).status().message(), "expected a row from 0 to 1, found -1");
  source.shape = {};
  EXPECT_EQ(buffer.gather(source, std::vector<int64_t>{0}).status().message(),
            "expected an array with rows to gather, found f32[]");
}
