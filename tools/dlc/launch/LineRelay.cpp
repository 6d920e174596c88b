#include "launch/LineRelay.h"

#include <algorithm>

namespace dlc::launch {

void LineRelay::take(std::string_view bytes, std::string &lines) {
  while (!bytes.empty()) {
    size_t room = kLongestLine - begun_.size(), end = bytes.find('\n');
    bool ends = end <= room;
    size_t size = ends ? end : std::min(bytes.size(), room);
    begun_ += bytes.substr(0, size);
    bytes.remove_prefix(ends ? size + 1 : size);
    bool full = !ends && size == 0;
    if (!ends && !full)
      continue;
    lines.append(prefix_).append(begun_).append("\n");
    begun_.clear();
  }
}

void LineRelay::finish(std::string &lines) {
  if (!begun_.empty())
    lines.append(prefix_).append(begun_).append("\n");
  begun_.clear();
}

} // namespace dlc::launch
