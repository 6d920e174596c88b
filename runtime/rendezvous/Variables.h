#pragma once

#include "dlc/runtime/Rendezvous.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlc::runtime {

/// Reads variables, remembers the first that is wrong and the wanted ones that are not there. An empty one is not
/// there.
class Variables {
public:
  explicit Variables(const Environment &environment) : environment_(environment) {}

  bool has(std::string_view name) const { return !text(name).empty(); }
  std::string text(std::string_view name) const;

  /// A whole number from `low` to `high`.
  std::optional<int64_t> number(std::string_view name, int64_t low, int64_t high);

  /// The same, or missing.
  int64_t need(std::string_view name, int64_t low, int64_t high);
  std::string need(std::string_view name);

  void miss(std::string_view name) { missing_.emplace_back(name); }
  void fail(std::string message);

  /// What was missed since the last call.
  std::vector<std::string> takeMissing() { return std::exchange(missing_, {}); }
  const Status &problem() const { return problem_; }

private:
  const Environment &environment_;
  std::vector<std::string> missing_;
  Status problem_;
};

} // namespace dlc::runtime
