#include "dlc/runtime/Npy.h"

#include "../../TestFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dlc;
using namespace dlc::test;
using testing::HasSubstr;

namespace {

std::string fileOf(std::string_view dictionary, std::string_view data, char version = 1) {
  std::string file = "\x93NUMPY";
  file += {version, '\0', static_cast<char>(dictionary.size() & 0xFFU), static_cast<char>(dictionary.size() >> 8U)};
  if (version != 1)
    file += std::string(2, '\0');
  return file.append(dictionary).append(data);
}

std::string problem(const std::string &file) { return Npy::parse(bytesOf(file)).status().message(); }

std::string headerProblem(std::string_view dictionary) { return problem(fileOf(dictionary, std::string(8, '\0'))); }

constexpr std::string_view floats = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
constexpr std::string_view oneAndMinusTwo("\0\0\x80\x3f\0\0\0\xc0", 8);

} // namespace

TEST(Npy, ReadsBothVersions) {
  for (char version : {'\1', '\2'}) {
    std::string file = fileOf(floats, oneAndMinusTwo, version);
    StatusOr<Npy> read = Npy::parse(bytesOf(file));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->array().dtype, DType::F32);
    EXPECT_EQ(read->array().shape, std::vector<int64_t>{2});
    EXPECT_EQ(contentOf(read->array()), oneAndMinusTwo);
  }
  EXPECT_EQ(problem(fileOf(floats, oneAndMinusTwo, 3)), "expected .npy format 1.0 or 2.0, found 3.0 at byte 6");
}

TEST(Npy, ReadsEveryTypeAndShape) {
  struct Case {
    const char *descr, *shape;
    DType dtype;
    std::vector<int64_t> dims;
    size_t bytes;
  };
  for (const Case &expected :
       {Case{"<f8", "()", DType::F64, {}, 8}, Case{"<i8", "(1, 2)", DType::I64, {1, 2}, 16},
        Case{"<i4", "(3,)", DType::I32, {3}, 12}, Case{"<f2", "(3,)", DType::F16, {3}, 6},
        Case{"|i1", "(2, 3, 1)", DType::I8, {2, 3, 1}, 6}, Case{"|b1", "(0, 7)", DType::I1, {0, 7}, 0}}) {
    std::string file = fileOf(std::string("{\"shape\":") + expected.shape + ", 'fortran_order': False, 'descr':'" +
                                  expected.descr + "'}",
                              std::string(expected.bytes, '\1'));
    StatusOr<Npy> read = Npy::parse(bytesOf(file));
    ASSERT_TRUE(read.ok()) << expected.descr << ": " << read.status().message();
    EXPECT_EQ(read->array().dtype, expected.dtype);
    EXPECT_EQ(read->array().shape, expected.dims);
  }
}

TEST(Npy, DATA_03_BigEndianIsRefused) {
  std::string file =
      fileOf("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", std::string("\x3f\x80\0\0", 4));
  EXPECT_THAT(problem(file), HasSubstr("expected little-endian data, found big-endian descr '>f4'"));
}

TEST(Npy, RefusesOtherHeaders) {
  EXPECT_THAT(headerProblem("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }"),
              HasSubstr("expected row-major data, found fortran_order True"));
  EXPECT_EQ(headerProblem("{'descr': '|u1', 'fortran_order': False, 'shape': (8,), }"),
            "expected descr '<f8', '<f4', '<f2', '<i8', '<i4', '|i1' or '|b1', found '|u1'");
  EXPECT_EQ(headerProblem("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }"),
            "expected one element type, found a structured array");
  EXPECT_EQ(headerProblem("{'descr': '<f4', 'shape': (2,), }"),
            "expected the header to name descr, fortran_order and shape, found only some of them");
  EXPECT_THAT(headerProblem("{'descr': '<f4', 'descr': '<f4'}"), HasSubstr("found 'descr' twice"));
  EXPECT_THAT(headerProblem("{'other': '<f4'}"), HasSubstr("found 'other'"));
  auto shape = [](const std::string &text) {
    return headerProblem("{'descr': '<f4', 'fortran_order': False, 'shape': " + text + ", }");
  };
  EXPECT_EQ(shape("(2)"), "expected shape to be a tuple, found a number in parentheses");
  EXPECT_THAT(shape("(-2,)"), HasSubstr("expected a dimension from 0 to 2^63 - 1 at byte"));
  EXPECT_THAT(shape("(9223372036854775808,)"), HasSubstr("expected a dimension"));
  EXPECT_THAT(shape("(1 2)"), HasSubstr("expected ','"));
  EXPECT_THAT(shape("(,)"), HasSubstr("expected a dimension"));
  EXPECT_THAT(shape("(2,) x"), HasSubstr("expected ',' or '}' at byte"));
  EXPECT_EQ(shape("(4294967296, 4294967296)"), "expected a size below 2^63 bytes, found f32[4294967296,4294967296]");
  EXPECT_EQ(shape("(3,)"), "f32[3] needs 12 bytes of data, found 8 from byte 67");
  EXPECT_EQ(shape("(1,)"), "f32[1] needs 4 bytes of data, found 8 from byte 67");
  EXPECT_THAT(headerProblem(std::string(floats) + "x"), HasSubstr("expected the end of the header at byte"));
}

TEST(Npy, RefusesOtherFiles) {
  EXPECT_THAT(problem("PK\3\4"), HasSubstr("found a zip archive"));
  EXPECT_THAT(problem("\x1f\x8b\x08\x08"), HasSubstr("found a gzip-compressed file"));
  EXPECT_THAT(problem("hello"), HasSubstr("found 'hello'"));
  std::string lying("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14);
  EXPECT_EQ(problem(lying), "expected a header of at most 65536 bytes, found length 4294967295 at byte 8");
  EXPECT_EQ(problem(fileOf("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\1\2")),
            "expected 0 or 1 for '|b1', found 2 at byte 68");
}

TEST(Npy, NoDamageGoesUnchecked) {
  for (char version : {'\1', '\2'})
    readDamaged(fileOf(floats, oneAndMinusTwo, version), [](std::string_view damaged, bool isPrefix) {
      StatusOr<Npy> read = Npy::parse(bytesOf(damaged));
      EXPECT_FALSE(isPrefix && read.ok());
      if (!read.ok()) {
        EXPECT_EQ(read.status().code(), StatusCode::InvalidInput);
        return;
      }
      EXPECT_EQ(contentOf(read->array()).size(), 8U);
    });
}

TEST(Npy, WritesAndReadsBack) {
  TemporaryFolder folder;
  std::vector<int32_t> values{1, -2, 3, 4, 5, 6};
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{6}, std::vector<int64_t>{2, 3}, std::vector<int64_t>{1, 3, 2}, std::vector<int64_t>{}}) {
    TensorView view{"", DType::I32, shape, values.data()};
    ASSERT_TRUE(writeNpy(folder.file("x.npy"), view).ok());
    StatusOr<Npy> read = Npy::open(folder.file("x.npy"));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->array().shape, shape);
    EXPECT_EQ(read->array().dtype, DType::I32);
    EXPECT_EQ(contentOf(read->array()), contentOf(view));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(read->array().data) % 64, 0U);
  }
}
