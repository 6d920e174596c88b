#include "Choices.h"

#include <array>
#include <cstdio>
#include <map>

namespace dlc::gpucheck {

std::vector<std::string> choiceLines(const Json &rows, const std::string &target) {
  struct Times {
    double generated = 0, library = 0; // 0: not measured
  };
  std::map<std::pair<std::string, std::string>, std::map<double, Times>> found;
  for (const Json &row : rows)
    if (row.contains("choice")) {
      const Json &choice = row["choice"];
      Times &times = found[{choice.value("op", ""), choice.value("type", "")}][choice.value("multiply-adds", 0.0)];
      (choice.value("way", "") == "library" ? times.library : times.generated) = choice.value("us", 0.0);
    }
  std::vector<std::string> lines;
  for (const auto &[kind, sizes] : found) {
    double from = 0;
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
      if (size->second.generated == 0 || size->second.library == 0)
        continue;
      if (size->second.library >= size->second.generated)
        break;
      from = size->first;
    }
    if (from == 0)
      continue; // no line: generated
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%a", from);
    lines.push_back("DLC_LIBRARY_CHOICE(\"" + kind.first + "\", \"" + kind.second + "\", \"" + target + "\", " +
                    text.data() + ")");
  }
  return lines;
}

} // namespace dlc::gpucheck
