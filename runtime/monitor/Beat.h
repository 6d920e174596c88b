#pragma once

#include "monitor/Progress.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

/// What a process tells the others of its members, again and again.
struct Beat {
  struct Member {
    uint64_t step = 0;
    Phase phase = Phase::UserCode;
    uint32_t program = 0, index = 0;
    int64_t milliseconds = 0; ///< in this phase
    struct Channel {
      uint64_t started = 0;
      std::array<uint64_t, Progress::kMarks> marks{};
    };
    std::array<Channel, Progress::kChannels> channels;

    bool waits() const { return phase == Phase::Wait || phase == Phase::Attach; }
  };
  uint64_t number = 0;
  std::vector<Member> members;

  static Member of(const Progress &progress);
  std::string text() const;
  /// Nothing if it is no beat.
  static std::optional<Beat> parse(std::string_view text);
};

} // namespace dlc::runtime
