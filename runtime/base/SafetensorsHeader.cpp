#include "base/SafetensorsHeader.h"

#include "base/FileError.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace dlc {
namespace {

constexpr std::string_view metadataKey = "__metadata__";

/// Follows the parser's events; no document is built, so nesting and memory are bounded by the format.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
public:
  explicit HeaderReader(uint64_t fileOffset) : fileOffset_(fileOffset) {}

  SafetensorsHeader header;
  std::string problem;

  bool null() override { return unexpected("null"); }
  bool boolean(bool value) override { return unexpected(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return unexpected(std::to_string(value)); }
  bool number_float(number_float_t, const string_t &text) override { return unexpected(text); }
  bool binary(binary_t &) override { return unexpected("binary"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (!inArray_ || (where_ == Where::Offsets && offsets_ == 2))
      return unexpected(std::to_string(value));
    SafetensorsEntry *entry = current();
    if (where_ == Where::Shape) {
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        return fail("tensor " + quote(entry->view.name) + ": expected a dimension below 2^63, found " +
                    std::to_string(value));
      entry->view.shape.push_back(static_cast<int64_t>(value));
      return true;
    }
    (offsets_++ == 0 ? entry->begin : entry->end) = value;
    return true;
  }

  bool string(string_t &value) override {
    if (where_ == Where::Metadata) {
      header.metadata[key_] = std::move(value);
      return true;
    }
    if (where_ != Where::Dtype)
      return unexpected(quote(value));
    std::optional<DType> dtype = dtypeFromSafetensorsName(value);
    if (!dtype)
      return fail("tensor " + quote(current()->view.name) +
                  ": expected dtype F64, F32, F16, BF16, I64, I32, I8 or BOOL, found " + quote(value));
    current()->view.dtype = *dtype;
    where_ = Where::Tensor;
    return true;
  }

  bool start_object(size_t) override {
    if (where_ == Where::Start)
      where_ = Where::Root;
    else if (where_ == Where::Value)
      where_ = key_ == metadataKey ? Where::Metadata : Where::Tensor;
    else
      return unexpected("an object");
    if (where_ == Where::Tensor)
      header.entries.emplace_back().view.name = key_;
    keys_.clear();
    return true;
  }

  bool key(string_t &value) override {
    std::set<std::string> &seen = where_ == Where::Root ? names_ : keys_;
    if (!seen.insert(value).second)
      return fail("expected unique names, found " + quote(value) + " twice");
    if (where_ == Where::Root)
      where_ = Where::Value;
    else if (where_ == Where::Tensor && !enterField(value))
      return fail("tensor " + quote(current()->view.name) + ": expected dtype, shape and data_offsets, found " +
                  quote(value));
    key_ = std::move(value);
    return true;
  }

  bool end_object() override {
    if (where_ == Where::Tensor && keys_.size() != 3)
      return fail("tensor " + quote(current()->view.name) + ": expected dtype, shape and data_offsets, found " +
                  std::to_string(keys_.size()) + " of them");
    where_ = Where::Root;
    return true;
  }

  bool start_array(size_t) override {
    if ((where_ != Where::Shape && where_ != Where::Offsets) || inArray_)
      return unexpected("an array");
    inArray_ = true;
    offsets_ = 0;
    return true;
  }

  bool end_array() override {
    if (where_ == Where::Offsets && offsets_ != 2)
      return fail("tensor " + quote(current()->view.name) + ": expected 2 data_offsets, found " +
                  std::to_string(offsets_));
    inArray_ = false;
    where_ = Where::Tensor;
    return true;
  }

  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &) override {
    return fail("expected valid JSON in the header, found an error at byte " +
                std::to_string(fileOffset_ + (position == 0 ? 0 : position - 1)));
  }

private:
  enum class Where { Start, Root, Value, Metadata, Tensor, Dtype, Shape, Offsets };

  SafetensorsEntry *current() { return header.entries.empty() ? nullptr : &header.entries.back(); }

  bool enterField(std::string_view field) {
    if (field == "dtype")
      where_ = Where::Dtype;
    else if (field == "shape")
      where_ = Where::Shape;
    else if (field == "data_offsets")
      where_ = Where::Offsets;
    return where_ != Where::Tensor;
  }

  bool fail(std::string message) {
    problem = std::move(message);
    return false;
  }

  bool unexpected(const std::string &found) {
    std::string expected = "an object of tensors in the header";
    switch (where_) {
    case Where::Start:
    case Where::Root:
      break;
    case Where::Value:
      expected = quote(key_) + " to be an object";
      break;
    case Where::Metadata:
      expected = "metadata " + quote(key_) + " to be a string";
      break;
    case Where::Tensor:
    case Where::Dtype:
      expected = "tensor " + quote(current()->view.name) + " to have a string as dtype";
      break;
    case Where::Shape:
      expected = "tensor " + quote(current()->view.name) + " to have whole numbers >= 0 in an array as shape";
      break;
    case Where::Offsets:
      expected = "tensor " + quote(current()->view.name) + " to have an array of 2 whole numbers >= 0 as data_offsets";
      break;
    }
    return fail("expected " + expected + ", found " + found);
  }

  uint64_t fileOffset_;
  Where where_ = Where::Start;
  bool inArray_ = false;
  int offsets_ = 0;
  std::string key_;
  std::set<std::string> names_, keys_;
};

} // namespace

StatusOr<SafetensorsHeader> parseSafetensorsHeader(std::string_view json, uint64_t fileOffset) {
  // The parser would take a zero byte for the end and skip a byte order mark.
  if (size_t zero = json.find('\0'); zero != std::string_view::npos)
    return invalidFile("expected text in the header, found a zero byte at byte " + std::to_string(fileOffset + zero));
  if (json.empty() || json.front() != '{')
    return invalidFile("expected the header to begin with '{', found " + quote(json.substr(0, 1)) + " at byte " +
                       std::to_string(fileOffset));
  HeaderReader reader(fileOffset);
  if (!nlohmann::json::sax_parse(json, &reader))
    return invalidFile(reader.problem);
  return std::move(reader.header);
}

StatusOr<std::string> jsonString(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "\"";
  for (char character : text) {
    auto byte = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\')
      result += '\\';
    if (byte < 0x20)
      result.append("\\u00").append({digits[byte >> 4U], digits[byte & 0xFU]});
    else
      result += character;
  }
  result += '"';
  if (!nlohmann::json::accept(result))
    return invalidFile("expected a name in UTF-8, found " + quote(text));
  return result;
}

} // namespace dlc
