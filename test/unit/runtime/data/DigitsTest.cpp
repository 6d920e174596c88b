#include "dlc/runtime/Digits.h"

#include "../../TestFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <numeric>

using namespace dlc;
using namespace dlc::test;
using testing::EndsWith;
using testing::HasSubstr;

namespace {

const char *shippedFile() { return DLC_TEST_FOLDER "/../examples/digits/data/digits.csv.gz"; }

std::string gzipped(std::string_view text) {
  std::string packed(text.size() + 1000, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// A line whose pixels are all `pixel`.
std::string line(const std::string &pixel, const std::string &label) {
  std::string text;
  for (int i = 0; i < 64; ++i)
    text += pixel + ",";
  return text + label;
}

std::string problem(const std::string &content, int64_t samples = 2) {
  TemporaryFolder folder;
  writeFile(folder.file("digits"), content);
  std::string message = readDigits(folder.file("digits"), samples).status().message();
  std::string prefix = folder.file("digits") + ": ";
  EXPECT_THAT(message, testing::StartsWith(prefix));
  return message.substr(std::min(prefix.size(), message.size()));
}

std::string textProblem(const std::string &text) { return problem(gzipped(text)); }

} // namespace

// Expected counts and sums were taken from the file with Python's own csv and gzip modules.
TEST(Digits, ReadsTheShippedFile) {
  StatusOr<Digits> digits = readDigits(shippedFile());
  ASSERT_TRUE(digits.ok()) << digits.status().message();
  EXPECT_EQ(digits->size(), 1797);
  EXPECT_EQ(digits->imageView().shape, (std::vector<int64_t>{1797, 1, 8, 8}));
  EXPECT_EQ(digits->labelView().shape, std::vector<int64_t>{1797});
  std::array<int, 10> counts{};
  for (int64_t label : digits->labels)
    ++counts.at(static_cast<size_t>(label));
  EXPECT_EQ(counts, (std::array<int, 10>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
  EXPECT_EQ(std::accumulate(digits->images.begin(), digits->images.end(), 0.0) * 16, 561718.0);
  EXPECT_EQ(digits->images[2], 5.0F / 16);
  EXPECT_EQ(digits->images[1796 * 64 + 2], 10.0F / 16);
  EXPECT_EQ(digits->labels[1796], 8);
}

TEST(Digits, Splits) {
  DataSplit split = everyFifthSplit(Digits::samples);
  EXPECT_EQ(split.test.size(), 359U);
  EXPECT_EQ(split.train.size(), 1438U);
  EXPECT_EQ(split.test.front(), 4);
  EXPECT_EQ(split.test.back(), 1794);
  EXPECT_THAT(everyFifthSplit(6).train, testing::ElementsAre(0, 1, 2, 3, 5));
  DataSplit last = lastFifthSplit(Digits::samples);
  EXPECT_EQ(last.test.size(), 359U);
  EXPECT_EQ(last.test.front(), 1438);
  EXPECT_EQ(last.train.size(), 1438U);
  EXPECT_EQ(last.train.back(), 1437);
}

TEST(Digits, RefusesOtherLines) {
  std::string good = line("16", "9");
  EXPECT_EQ(textProblem(good + "\n"), "expected 2 lines, found 1");
  EXPECT_EQ(textProblem(good + "\n" + good + "\n" + good), "expected 2 lines, found more");
  EXPECT_EQ(textProblem(good + "\n" + line("17", "9")),
            "line 2: column 1: expected a whole number from 0 to 16, found '17'");
  EXPECT_EQ(textProblem(line("0", "10")), "line 1: column 65: expected a whole number from 0 to 9, found '10'");
  EXPECT_EQ(textProblem(line("-1", "1")), "line 1: column 1: expected a whole number from 0 to 16, found '-1'");
  EXPECT_EQ(textProblem(line("1.0", "1")), "line 1: column 1: expected a whole number from 0 to 16, found '1.0'");
  EXPECT_EQ(textProblem(line("1", "")), "line 1: column 65: expected a whole number from 0 to 9, found ''");
  EXPECT_EQ(textProblem(line("1", "1").substr(2)), "line 1: expected 65 numbers, found 64");
  EXPECT_EQ(textProblem(line("1", "1,")), "line 1: expected 65 numbers, found more");
  EXPECT_EQ(textProblem("\n"), "line 1: column 1: expected a whole number from 0 to 16, found ''");
  EXPECT_EQ(textProblem(""), "expected 2 lines, found 0");
  EXPECT_THAT(textProblem(std::string(100000, '1')), HasSubstr("expected at most"));
}

TEST(Digits, AcceptsBothLineEnds) {
  TemporaryFolder folder;
  writeFile(folder.file("digits"), gzipped(line("16", "9") + "\r\n" + line("8", "0")));
  StatusOr<Digits> digits = readDigits(folder.file("digits"), 2);
  ASSERT_TRUE(digits.ok()) << digits.status().message();
  EXPECT_EQ(digits->images[63], 1.0F);
  EXPECT_EQ(digits->images[64], 0.5F);
  EXPECT_THAT(digits->labels, testing::ElementsAre(9, 0));
}

TEST(Digits, MissingDamagedAndTruncatedFiles) {
  EXPECT_THAT(readDigits("/nowhere/digits.csv.gz").status().message(),
              EndsWith("digits.csv.gz: cannot open: No such file or directory"));
  EXPECT_EQ(problem(line("1", "1")), "expected a gzip-compressed file beginning with bytes 1f 8b, found '1,1,1,1,'");
  EXPECT_EQ(problem(""), "expected a gzip-compressed file beginning with bytes 1f 8b, found an empty file");
  std::string shipped = readFile(shippedFile());
  EXPECT_EQ(problem(shipped.substr(0, 30000), 1797), "expected more compressed data after byte 30000, found the end of "
                                                     "the file; it is cut short");
  std::string damaged = shipped;
  damaged[damaged.size() - 6] ^= 1; // in the checksum
  EXPECT_THAT(problem(damaged, 1797), HasSubstr("expected valid compressed data, found incorrect data check"));
  EXPECT_EQ(problem(shipped + "x", 1797), "expected the file to end at byte 57523, found 1 more bytes");
}

TEST(Digits, NoDamageGoesUnchecked) {
  TemporaryFolder folder;
  std::string good = gzipped(line("3", "1") + "\n" + line("12", "7") + "\n");
  writeFile(folder.file("good"), good);
  Digits original = readDigits(folder.file("good"), 2).take();
  readDamaged(good, [&](std::string_view damaged, bool isPrefix) {
    writeFile(folder.file("damaged"), damaged);
    StatusOr<Digits> read = readDigits(folder.file("damaged"), 2);
    EXPECT_FALSE(isPrefix && read.ok());
    if (read.ok()) { // only the header's time and system bytes are free
      EXPECT_EQ(read->images, original.images);
      EXPECT_EQ(read->labels, original.labels);
    }
  });
}
