#pragma once

#include <chrono>
#include <optional>

namespace dlc::launch {

using Time = std::chrono::steady_clock::time_point;

/// When processes are asked to end, and when they are killed. Knows only time.
class ShutDown {
public:
  enum class Step { None, Ask, Kill, GiveUp };

  static constexpr std::chrono::milliseconds kLeftovers{1000}; ///< for processes that a rank leaves behind
  static constexpr std::chrono::milliseconds kKilled{10000};   ///< for the kernel
  static constexpr std::chrono::milliseconds kAgain{50};       ///< between kills, for what appears meanwhile

  /// `termTime`: from SIGTERM to SIGKILL.
  explicit ShutDown(std::chrono::milliseconds termTime) : termTime_(termTime) {}

  /// Asks after `grace`, or earlier if that was said before.
  void begin(Time now, std::chrono::milliseconds grace);
  /// Kills at once.
  void kill(Time now);

  /// What is due, once each, Kill again and again.
  Step due(Time now);
  /// When to look again; nothing: not yet begun.
  std::optional<Time> next() const;

  /// Processes were asked to end, or killed.
  bool asked() const { return phase_ > Phase::Waiting; }

private:
  enum class Phase { Running, Waiting, Asked, Killed };
  std::chrono::milliseconds termTime_;
  Phase phase_ = Phase::Running;
  Time deadline_{}; ///< of the phase
  Time again_{};    ///< next kill
};

} // namespace dlc::launch
