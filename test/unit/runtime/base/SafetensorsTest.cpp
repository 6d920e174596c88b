#include "dlc/runtime/Safetensors.h"

#include "../../TestFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

using namespace dlc;
using namespace dlc::test;
using testing::HasSubstr;

namespace {

/// A file from its header and data.
std::string fileOf(const std::string &header, const std::string &data = "") {
  std::string file;
  for (unsigned i = 0; i < 8; ++i)
    file += static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

std::string lengthField(uint64_t length, const std::string &rest) {
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + rest;
}

std::string problem(const std::string &file) { return Safetensors::parse(bytesOf(file)).status().message(); }

constexpr std::string_view oneTensor = R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

template <typename T>
T element(const TensorView &view, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(view.data) + index * sizeof(T), sizeof(T));
  return value;
}

} // namespace

TEST(Safetensors, ReadsAHandWrittenFile) {
  std::string file = fileOf(R"({"__metadata__":{"epoch":"3"},"b":{"dtype":"I64","shape":[],"data_offsets":[8,16]},)"
                            R"("a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                            R"("none":{"dtype":"I8","shape":[0,5],"data_offsets":[16,16]}}   )",
                            std::string("\0\0\x80\x3f\0\0\0\xc0\xff\xff\xff\xff\xff\xff\xff\xff", 16));
  StatusOr<Safetensors> read = Safetensors::parse(bytesOf(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->tensors().size(), 3U);
  EXPECT_EQ(read->tensors()[0].name, "a");
  EXPECT_EQ(read->tensors()[0].shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(element<float>(read->tensors()[0], 0), 1.0F);
  EXPECT_EQ(element<float>(read->tensors()[0], 1), -2.0F);
  EXPECT_EQ(element<int64_t>(*read->find("b"), 0), -1);
  EXPECT_TRUE(read->find("b")->shape.empty());
  EXPECT_EQ(read->find("none")->dtype, DType::I8);
  EXPECT_EQ(read->find("c"), nullptr);
  EXPECT_EQ(read->metadata(), (SafetensorsMetadata{{"epoch", "3"}}));
}

TEST(Safetensors, FILE_01_FileShorterThanItsHeaderSays) {
  std::string file = fileOf(R"({"t":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", std::string(8, '\0'));
  EXPECT_EQ(problem(file),
            "tensor 't': expected data up to offset 16, found 8 bytes of data; the file may be cut short");
  TemporaryFolder folder;
  writeFile(folder.file("x.safetensors"), file);
  EXPECT_THAT(Safetensors::open(folder.file("x.safetensors")).status().message(),
              testing::StartsWith(folder.file("x.safetensors") + ": tensor 't'"));
}

TEST(Safetensors, FILE_03_ShapeAgainstByteRange) {
  EXPECT_EQ(problem(fileOf(R"({"t":{"dtype":"F32","shape":[1000,1000],"data_offsets":[0,4]}})", std::string(4, '\0'))),
            "tensor 't': f32[1000,1000] needs 4000000 bytes, found 4 between data offsets 0 and 4");
  // 2^32 * 2^32 wraps to 0 in 64 bits.
  EXPECT_EQ(problem(fileOf(R"({"t":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})")),
            "tensor 't': expected a size below 2^63 bytes, found f32[4294967296,4294967296]");
  EXPECT_THAT(problem(fileOf(R"({"t":{"dtype":"I8","shape":[9223372036854775808],"data_offsets":[0,0]}})")),
              HasSubstr("expected a dimension below 2^63, found 9223372036854775808"));
}

TEST(Safetensors, FILE_05_HeaderLengthThatLies) {
  EXPECT_EQ(problem(lengthField(uint64_t{1} << 63U, std::string(12, 'x'))),
            "expected a header of at most 100000000 bytes, found length 9223372036854775808 at byte 0; is this a "
            "safetensors file?");
  EXPECT_EQ(problem(lengthField(0, "")), "expected a header of at least 2 bytes, found length 0 at byte 0");
  EXPECT_EQ(problem(lengthField(3, "{}")), "expected a header of 3 bytes from byte 8, found a file of 10 bytes");
  EXPECT_EQ(problem(lengthField(100'000'000, "{}")),
            "expected a header of 100000000 bytes from byte 8, found a file of 10 bytes");
  EXPECT_THAT(problem(lengthField(100'000'001, "{}")), HasSubstr("at most 100000000 bytes, found length 100000001"));
  EXPECT_THAT(problem("<!DOCTYPE html><html>not found</html>"), HasSubstr("is this a safetensors file?"));
  EXPECT_EQ(problem("1234567"), "expected a header length of 8 bytes at byte 0, found a file of 7 bytes");
  EXPECT_EQ(problem(""), "expected a header length of 8 bytes at byte 0, found a file of 0 bytes");
}

TEST(Safetensors, FILE_07_TiedNamesAreBothWritten) {
  TemporaryFolder folder;
  std::vector<float> weight{1, 2, 3, 4, 5, 6};
  TensorView embedding{"embedding.weight", DType::F32, {3, 2}, weight.data()};
  TensorView head{"head.weight", DType::F32, {3, 2}, weight.data()};
  ASSERT_TRUE(writeSafetensors(folder.file("tied"), std::vector{head, embedding}).ok());
  StatusOr<Safetensors> read = Safetensors::open(folder.file("tied"));
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (const char *name : {"embedding.weight", "head.weight"}) {
    ASSERT_NE(read->find(name), nullptr);
    EXPECT_EQ(read->find(name)->shape, (std::vector<int64_t>{3, 2}));
    EXPECT_EQ(contentOf(*read->find(name)), contentOf(head));
  }
  EXPECT_NE(read->find("embedding.weight")->data, read->find("head.weight")->data);
}

TEST(Safetensors, RefusesHolesAndOverlap) {
  std::string data(8, '\0');
  EXPECT_EQ(problem(fileOf(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", data)),
            "tensor 't': expected data from offset 0 without hole or overlap, found offset 4");
  EXPECT_EQ(problem(fileOf(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", data)),
            "expected the data to end at offset 4, found 8 bytes of data");
  EXPECT_EQ(problem(fileOf(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                           R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                           data)),
            "tensor 'b': expected data from offset 8 without hole or overlap, found offset 4");
  EXPECT_EQ(problem(fileOf(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})", data)),
            "tensor 't': expected data_offsets in order, found [8, 4]");
}

TEST(Safetensors, RefusesOtherHeaders) {
  auto header = [](const std::string &text) { return problem(fileOf(text, std::string(8, '\0'))); };
  EXPECT_EQ(header(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"t":{}})"),
            "expected unique names, found 't' twice");
  EXPECT_EQ(header(R"({"t":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})"),
            "expected unique names, found 'dtype' twice");
  EXPECT_EQ(header(R"({"t":{"dtype":"F4","shape":[2],"data_offsets":[0,8]}})"),
            "tensor 't': expected dtype F64, F32, F16, BF16, I64, I32, I8 or BOOL, found 'F4'");
  EXPECT_EQ(header(R"({"t":{"dtype":"F32","shape":[2]}})"),
            "tensor 't': expected dtype, shape and data_offsets, found 2 of them");
  EXPECT_EQ(header(R"({"t":{"dtype":"F32","extra":1}})"),
            "tensor 't': expected dtype, shape and data_offsets, found 'extra'");
  EXPECT_EQ(header(R"({"t":{"dtype":"F32","shape":2}})"),
            "expected tensor 't' to have whole numbers >= 0 in an array as shape, found 2");
  EXPECT_THAT(header(R"({"t":{"dtype":"F32","shape":[-2]}})"), HasSubstr("found -2"));
  EXPECT_THAT(header(R"({"t":{"dtype":"F32","shape":[2.0]}})"), HasSubstr("found 2.0"));
  EXPECT_THAT(header(R"({"t":{"dtype":"F32","shape":[[2]]}})"), HasSubstr("found an array"));
  EXPECT_THAT(header(R"({"t":{"dtype":"F32","shape":[18446744073709551616]}})"), HasSubstr("18446744073709551616"));
  EXPECT_THAT(header(R"({"t":{"dtype":"F32","data_offsets":[0,8,9]}})"), HasSubstr("found 9"));
  EXPECT_THAT(header(R"({"t":{"dtype":"F32","data_offsets":[0]}})"), HasSubstr("expected 2 data_offsets, found 1"));
  EXPECT_EQ(header(R"({"__metadata__":{"n":1}})"), "expected metadata 'n' to be a string, found 1");
  EXPECT_EQ(header(R"({"t":null})"), "expected 't' to be an object, found null");
  EXPECT_EQ(header(R"({"t":{"dtype":"F32",}})"), "expected valid JSON in the header, found an error at byte 28");
  EXPECT_EQ(header(R"([1])"), "expected the header to begin with '{', found '[' at byte 8");
  EXPECT_EQ(header(std::string(oneTensor) + std::string(2, '\0')),
            "expected text in the header, found a zero byte at byte " + std::to_string(8 + oneTensor.size()));
  EXPECT_THAT(header(std::string(oneTensor) + "{}"), HasSubstr("expected valid JSON"));
  EXPECT_THAT(header("{\"\xff\":{}}"), HasSubstr("expected valid JSON"));
  // Nesting is refused at the first level too many, whatever its depth.
  EXPECT_THAT(header(R"({"t":)" + std::string(100000, '[')), HasSubstr("found an array"));
}

TEST(Safetensors, RefusesBytesThatAreNoBoolean) {
  EXPECT_EQ(problem(fileOf(R"({"m":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", "\x01\x07")),
            "tensor 'm': expected 0 or 1 for BOOL, found 7 at byte 64");
}

TEST(Safetensors, NoDamageGoesUnchecked) {
  std::string file = fileOf(R"({"__metadata__":{"a":"b"},"m":{"dtype":"BOOL","shape":[2],"data_offsets":[8,10]},)" +
                                std::string(oneTensor.substr(1)),
                            std::string(8, '\1') + std::string(2, '\1'));
  ASSERT_TRUE(Safetensors::parse(bytesOf(file)).ok()) << problem(file);
  readDamaged(file, [](std::string_view damaged, bool isPrefix) {
    StatusOr<Safetensors> read = Safetensors::parse(bytesOf(damaged));
    EXPECT_FALSE(isPrefix && read.ok());
    if (!read.ok()) {
      EXPECT_EQ(read.status().code(), StatusCode::InvalidInput);
      EXPECT_FALSE(read.status().message().empty());
      return;
    }
    // What is accepted lies inside the input.
    for (const TensorView &view : read->tensors()) {
      EXPECT_LE(contentOf(view).size(), damaged.size());
    }
  });
}

TEST(Safetensors, WritesAlignedAndReadsBack) {
  TemporaryFolder folder;
  std::vector<uint8_t> mask{1, 0, 1};
  std::vector<double> wide{0.5, -0.25};
  std::vector<int32_t> counts{7};
  SafetensorsMetadata metadata{{"quote\"\\", "line\nbreak \xc3\xa9"}};
  std::vector<TensorView> tensors{{"mask", DType::I1, {3}, mask.data()},
                                  {"z", DType::F64, {2}, wide.data()},
                                  {"counts", DType::I32, {}, counts.data()},
                                  {"nothing", DType::F32, {0}, nullptr}};
  ASSERT_TRUE(writeSafetensors(folder.file("x"), tensors, metadata).ok());
  StatusOr<Safetensors> read = Safetensors::open(folder.file("x"));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->metadata(), metadata);
  for (const TensorView &view : tensors) {
    const TensorView *found = read->find(view.name);
    ASSERT_NE(found, nullptr) << view.name;
    EXPECT_EQ(found->shape, view.shape);
    EXPECT_EQ(found->dtype, view.dtype);
    EXPECT_EQ(contentOf(*found), contentOf(view));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(found->data) % static_cast<uintptr_t>(byteSize(view.dtype)), 0U);
  }
  EXPECT_EQ(static_cast<unsigned char>(readFile(folder.file("x"))[0]) % 8, 0); // header padded to 8
  Safetensors copy = *read;
  read = Status(StatusCode::Internal, "gone");
  EXPECT_EQ(element<double>(*copy.find("z"), 1), -0.25); // a copy keeps the mapping
}

TEST(Safetensors, WriterRefusesBadNames) {
  TemporaryFolder folder;
  float value = 0;
  auto write = [&](const std::vector<std::string> &names) {
    std::vector<TensorView> views;
    views.reserve(names.size());
    for (const std::string &name : names)
      views.push_back({name, DType::F32, {}, &value});
    return writeSafetensors(folder.file("x"), views).message();
  };
  EXPECT_THAT(write({"a", "b", "a"}), HasSubstr("expected unique names, found 'a' twice"));
  EXPECT_THAT(write({"__metadata__"}), HasSubstr("which the format reserves"));
  EXPECT_THAT(write({"\xff"}), HasSubstr("expected a name in UTF-8"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Safetensors, FailedWriteLeavesThePreviousFile) {
  TemporaryFolder folder;
  float value = 1;
  TensorView view{"t", DType::F32, {}, &value};
  EXPECT_THAT(writeSafetensors(folder.file("missing/x"), std::vector{view}).message(),
              HasSubstr("cannot create: No such file or directory"));
  std::filesystem::create_directories(folder.file("folder/inside"));
  EXPECT_THAT(writeSafetensors(folder.file("folder"), std::vector{view}).message(),
              HasSubstr("cannot rename the temporary file"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1); // no temporary left
  ASSERT_TRUE(writeSafetensors(folder.file("x"), std::vector{view}).ok());
  value = 2;
  ASSERT_TRUE(writeSafetensors(folder.file("x"), std::vector{view}).ok());
  EXPECT_EQ(element<float>(*Safetensors::open(folder.file("x"))->find("t"), 0), 2.0F);
}

// /dev/null must not become a file.
TEST(Safetensors, WhatIsNoFileIsWrittenInto) {
  TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/null", folder.file("null"));
  std::array<float, 2> values = {1, 2};
  TensorView view{"a", DType::F32, {2}, values.data()};
  EXPECT_EQ(writeSafetensors(folder.file("null"), std::vector{view}).message(), "");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("null")));
}

TEST(Safetensors, OpenNamesWhatItFound) {
  TemporaryFolder folder;
  EXPECT_EQ(Safetensors::open(folder.file("none")).status().message(),
            folder.file("none") + ": cannot open: No such file or directory");
  EXPECT_EQ(Safetensors::open(folder.path()).status().message(),
            folder.path() + ": expected a regular file, found a directory");
  writeFile(folder.file("empty"), "");
  EXPECT_THAT(Safetensors::open(folder.file("empty")).status().message(), HasSubstr("found a file of 0 bytes"));
}
