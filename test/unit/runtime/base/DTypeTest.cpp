#include "dlc/runtime/DType.h"

#include <gtest/gtest.h>

using namespace dlc;

TEST(DType, SizesAndSpellings) {
  EXPECT_EQ(byteSize(DType::F64), 8);
  EXPECT_EQ(byteSize(DType::F32), 4);
  EXPECT_EQ(byteSize(DType::I64), 8);
  EXPECT_EQ(byteSize(DType::I32), 4);
  EXPECT_EQ(byteSize(DType::I8), 1);
  EXPECT_EQ(byteSize(DType::I1), 1);
  EXPECT_EQ(byteSize(DType::F16), 2);
  EXPECT_EQ(byteSize(DType::BF16), 2);
  EXPECT_EQ(name(DType::F32), "f32");
  EXPECT_EQ(safetensorsName(DType::I1), "BOOL");
  EXPECT_EQ(npyName(DType::I64), "<i8");
}

TEST(DType, EverySpellingReadsBack) {
  for (DType type : {DType::F64, DType::F32, DType::I64, DType::I32, DType::I8, DType::I1, DType::F16, DType::BF16}) {
    EXPECT_EQ(dtypeFromName(name(type)), type);
    EXPECT_EQ(dtypeFromSafetensorsName(safetensorsName(type)), type);
    if (type != DType::BF16) // NumPy has no such type
      EXPECT_EQ(dtypeFromNpyName(npyName(type)), type);
  }
  EXPECT_EQ(dtypeFromName("f17"), std::nullopt);
  EXPECT_EQ(dtypeFromName(""), std::nullopt);
  EXPECT_EQ(dtypeFromNpyName(""), std::nullopt);
  EXPECT_EQ(dtypeFromNpyName("|u1"), std::nullopt);
}
