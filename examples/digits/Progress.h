#pragma once

#include <chrono>
#include <cstdint>

/// A line that shows how far training is: step, loss, examples/s, time left. On a terminal it is drawn anew in place;
/// else a plain line follows the last after ten seconds.
class Progress {
public:
  Progress(int64_t steps, int64_t examples);

  /// After a step on `examples` samples.
  void update(double loss, int64_t examples);
  /// Wipes the bar, so that other lines can be printed.
  void clear();

  double seconds() const;

private:
  void print(double loss) const;

  using Clock = std::chrono::steady_clock;
  int64_t steps, totalExamples, step = 0, seen = 0;
  bool terminal;
  Clock::time_point start = Clock::now(), last = start;
};
