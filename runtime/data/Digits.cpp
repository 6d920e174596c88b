#include "dlc/runtime/Digits.h"

#include "base/FileError.h"
#include "base/Gzip.h"

#include <charconv>
#include <string_view>

namespace dlc {
namespace {

constexpr int64_t brightest = 16;
constexpr size_t longestLine = 3 * (Digits::pixels + 1) + 1; // numbers of two digits, a comma or "\r\n" after each

/// Reads a number from 0 to `largest` and removes it from `line`; `column` counts from 1.
StatusOr<int64_t> takeNumber(std::string_view &line, int64_t column, int64_t largest) {
  std::string_view field = line.substr(0, line.find(','));
  int64_t value = -1;
  auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || stop != field.data() + field.size() || value < 0 || value > largest)
    return invalidFile("column " + std::to_string(column) + ": expected a whole number from 0 to " +
                       std::to_string(largest) + ", found " + quote(field));
  line.remove_prefix(field.size());
  return value;
}

Status readLine(std::string_view line, Digits &digits) {
  for (int64_t column = 1; column <= Digits::pixels + 1; ++column) {
    if (column > 1) {
      if (line.empty())
        return invalidFile("expected " + std::to_string(Digits::pixels + 1) + " numbers, found " +
                           std::to_string(column - 1));
      line.remove_prefix(1);
    }
    bool isLabel = column == Digits::pixels + 1;
    StatusOr<int64_t> value = takeNumber(line, column, isLabel ? Digits::classes - 1 : brightest);
    if (!value.ok())
      return value.status();
    if (isLabel)
      digits.labels.push_back(*value);
    else
      digits.images.push_back(static_cast<float>(*value) / static_cast<float>(brightest));
  }
  if (!line.empty())
    return invalidFile("expected " + std::to_string(Digits::pixels + 1) + " numbers, found more");
  return {};
}

StatusOr<Digits> parseDigits(std::string_view text, int64_t samples) {
  Digits digits;
  for (int64_t number = 1; !text.empty(); ++number) {
    if (digits.size() == samples)
      return invalidFile("expected " + std::to_string(samples) + " lines, found more");
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (Status status = readLine(line, digits); !status.ok())
      return status.withContext("line " + std::to_string(number));
  }
  if (digits.size() != samples)
    return invalidFile("expected " + std::to_string(samples) + " lines, found " + std::to_string(digits.size()));
  return digits;
}

} // namespace

TensorView Digits::imageView() const { return {"images", DType::F32, {size(), 1, side, side}, images.data()}; }

TensorView Digits::labelView() const { return {"labels", DType::I64, {size()}, labels.data()}; }

StatusOr<Digits> readDigits(const std::string &path, int64_t samples) {
  if (samples < 0 || samples > INT64_MAX / static_cast<int64_t>(longestLine))
    return Status(StatusCode::InvalidInput, "expected a count of samples >= 0, found " + std::to_string(samples));
  // One line more than expected, so that a longer file is told by its lines.
  StatusOr<std::string> text = readGzip(path, (static_cast<size_t>(samples) + 1) * longestLine);
  if (!text.ok())
    return text.status();
  StatusOr<Digits> digits = parseDigits(*text, samples);
  return digits.ok() ? std::move(digits) : digits.status().withContext(path);
}

DataSplit everyFifthSplit(int64_t size) {
  DataSplit split;
  for (int64_t i = 0; i < size; ++i)
    (i % 5 == 4 ? split.test : split.train).push_back(i);
  return split;
}

DataSplit lastFifthSplit(int64_t size) {
  DataSplit split;
  for (int64_t i = 0; i < size; ++i)
    (i >= size - size / 5 ? split.test : split.train).push_back(i);
  return split;
}

} // namespace dlc
