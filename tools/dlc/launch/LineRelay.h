#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dlc::launch {

/// Makes whole lines of the bytes that a rank writes to one stream, each with a prefix.
class LineRelay {
public:
  /// A line that grows beyond this is cut, so that no rank can fill the launcher's memory.
  static constexpr size_t kLongestLine = size_t{1} << 20;

  explicit LineRelay(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Appends the lines that are complete now.
  void take(std::string_view bytes, std::string &lines);

  /// Appends the last line if it had no end.
  void finish(std::string &lines);

private:
  std::string prefix_, begun_;
};

} // namespace dlc::launch
