#include "base/NpyHeader.h"

#include "base/FileError.h"

#include <charconv>

namespace dlc {
namespace {

/// A cursor over the dictionary; the first problem stays.
class HeaderReader {
public:
  HeaderReader(std::string_view text, uint64_t fileOffset) : text_(text), fileOffset_(fileOffset) {}

  StatusOr<TensorView> read() {
    expect('{');
    while (status_.ok() && !accept('}')) {
      std::string_view key = string();
      expect(':');
      field(key);
      if (!accept(',') && !next('}'))
        unexpected("',' or '}'");
    }
    skipSpace();
    if (status_.ok() && position_ != text_.size())
      unexpected("the end of the header");
    if (status_.ok() && (!hasType_ || !hasOrder_ || !hasShape_))
      status_ = invalidFile("expected the header to name descr, fortran_order and shape, found only some of them");
    if (!status_.ok())
      return status_;
    return std::move(view_);
  }

private:
  void field(std::string_view key) {
    bool *seen = key == "descr"           ? &hasType_
                 : key == "fortran_order" ? &hasOrder_
                 : key == "shape"         ? &hasShape_
                                          : nullptr;
    if (!status_.ok())
      return;
    if (!seen || *seen) {
      status_ = invalidFile("expected the header to name descr, fortran_order and shape once each, found " +
                            quote(key) + (seen ? " twice" : ""));
      return;
    }
    *seen = true;
    if (seen == &hasType_)
      type();
    else if (seen == &hasOrder_)
      order();
    else
      shape();
  }

  void type() {
    if (skipSpace(); next('[')) {
      status_ = invalidFile("expected one element type, found a structured array");
      return;
    }
    std::string_view found = string();
    if (!status_.ok())
      return;
    if (std::optional<DType> dtype = dtypeFromNpyName(found))
      view_.dtype = *dtype;
    else if (found.starts_with('>'))
      status_ = invalidFile("expected little-endian data, found big-endian descr " + quote(found) +
                            "; convert it with array.astype(array.dtype.newbyteorder('<'))");
    else
      status_ = invalidFile("expected descr '<f8', '<f4', '<f2', '<i8', '<i4', '|i1' or '|b1', found " + quote(found));
  }

  void order() {
    skipSpace();
    if (acceptWord("True"))
      status_ =
          invalidFile("expected row-major data, found fortran_order True; convert it with numpy.ascontiguousarray");
    else if (!acceptWord("False"))
      unexpected("False or True");
  }

  void shape() {
    expect('(');
    bool comma = false;
    while (status_.ok() && !accept(')')) {
      if (!view_.shape.empty() && !comma) {
        unexpected("','");
        return;
      }
      view_.shape.push_back(number());
      comma = accept(',');
    }
    if (status_.ok() && view_.shape.size() == 1 && !comma)
      status_ = invalidFile("expected shape to be a tuple, found a number in parentheses");
  }

  int64_t number() {
    skipSpace();
    int64_t value = 0;
    const char *begin = text_.data() + position_, *end = text_.data() + text_.size();
    auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || value < 0) {
      unexpected("a dimension from 0 to 2^63 - 1");
      return 0;
    }
    position_ += static_cast<size_t>(stop - begin);
    return value;
  }

  /// A quoted string without escapes; no name or type in this format needs one.
  std::string_view string() {
    skipSpace();
    if (!next('\'') && !next('"')) {
      unexpected("a string");
      return {};
    }
    size_t end = text_.find(text_[position_], position_ + 1);
    if (end == std::string_view::npos) {
      unexpected("a closed string");
      return {};
    }
    std::string_view content = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return content;
  }

  bool next(char character) const { return position_ < text_.size() && text_[position_] == character; }

  bool accept(char character) {
    skipSpace();
    bool found = next(character);
    position_ += found ? 1 : 0;
    return found;
  }

  bool acceptWord(std::string_view word) {
    bool found = text_.substr(position_).starts_with(word);
    position_ += found ? word.size() : 0;
    return found;
  }

  void expect(char character) {
    if (!accept(character))
      unexpected(quote(std::string_view(&character, 1)));
  }

  void skipSpace() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n'))
      ++position_;
  }

  void unexpected(const std::string &expected) {
    if (!status_.ok())
      return;
    std::string found = position_ < text_.size() ? quote(text_.substr(position_, 1)) : "the end of the header";
    status_ = invalidFile("expected " + expected + " at byte " + std::to_string(fileOffset_ + position_) + ", found " +
                          found);
  }

  std::string_view text_;
  uint64_t fileOffset_;
  size_t position_ = 0;
  Status status_;
  TensorView view_;
  bool hasType_ = false, hasOrder_ = false, hasShape_ = false;
};

} // namespace

StatusOr<TensorView> parseNpyHeader(std::string_view dictionary, uint64_t fileOffset) {
  return HeaderReader(dictionary, fileOffset).read();
}

} // namespace dlc
