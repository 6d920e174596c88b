#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

/// The lines of what ranks tell each other; at least one.
inline std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

} // namespace dlc::runtime
