#pragma once

#include "dlc/runtime/Profile.h"

#include <array>
#include <string>
#include <vector>

namespace dlc::runtime::profile {

/// A span as a thread keeps it: two cache lines.
struct Recorded {
  static constexpr size_t kLongestName = 70;

  int64_t begin = 0, end = 0;
  Track track = Track::Thread; ///< never Thread once it is recorded
  Category category = Category::Compute;
  uint8_t nameSize = 0;
  std::array<char, kLongestName> text{};

  std::string_view name() const { return {text.data(), nameSize}; }
};

/// A number at a time, which a trace draws as a curve.
struct Counted {
  int64_t time = 0;
  std::string name; ///< "gpu 0 power"
  std::string unit; ///< "W"
  double value = 0;
};
constexpr size_t kCountedKept = size_t{1} << 18;

/// All that was recorded, by begin; on equal begins the longer first, so that spans come before those inside.
struct Recording {
  std::vector<Recorded> spans;
  std::vector<std::string> tracks; ///< by Track
  int64_t lost = 0;
  std::vector<Counted> counted; ///< the last kCountedKept, by time
};
Recording recorded();

/// Adds to the curves.
void count(std::vector<Counted> values);

/// Forgets all spans and curves.
void clear();

Summary summarize(const Recording &recording);

/// Who writes the trace.
struct Identity {
  int rank = 0, worldSize = 1;
};

/// The trace as JSON text.
std::string traceJson(const Recording &recording, const Identity &identity);

} // namespace dlc::runtime::profile
