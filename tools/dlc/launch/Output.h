#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <poll.h>
#include <string>
#include <vector>

namespace dlc::launch {

class Signals;

/// Of a rank, and of the launcher.
enum Stream { kStandardOutput, kStandardError, kStreamCount };

/// The launcher's own two streams. Lines stay whole and in order where both are one file, and nothing here waits for
/// who reads them, so that signals and limits are always seen to.
class Output {
public:
  Output();

  void add(Stream stream, std::string lines);

  /// So much waits that more should not be made.
  bool full(Stream stream) const { return waiting_[stream] > kMostWaiting; }
  /// Nobody reads it any longer.
  bool broken(Stream stream) const { return broken_[stream]; }
  bool empty() const { return waiting_[kStandardOutput] + waiting_[kStandardError] == 0; }

  /// What to poll for, and what poll found there.
  std::vector<pollfd> pollItems() const;
  void write(const pollfd &item);

  /// Waits until everything is written, or a signal asks to end.
  void finish(Signals &signals);

private:
  static constexpr size_t kMostWaiting = size_t{1} << 20;

  struct Piece {
    Stream stream;
    std::string text;
  };

  std::deque<Piece> &queueOf(Stream stream) { return queues_[oneFile_ ? 0 : stream]; }
  void drop(Stream stream);

  bool oneFile_;
  std::array<std::deque<Piece>, kStreamCount> queues_;
  size_t written_[kStreamCount] = {}; ///< of the first piece of each queue
  std::array<size_t, kStreamCount> waiting_{};
  std::array<bool, kStreamCount> broken_{};
};

} // namespace dlc::launch
