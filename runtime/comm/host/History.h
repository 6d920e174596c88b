#pragma once

#include "comm/host/Operation.h"

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace dlc::runtime {

/// The last operations of a channel, in a ring. Whoever uses it holds the channel's lock.
class History {
public:
  static constexpr uint64_t kKept = 64;

  /// Returns the operation's number.
  uint64_t add(const Operation &operation, std::chrono::steady_clock::time_point when);
  void start(uint64_t number);
  void end(uint64_t number, bool good);

  /// Oldest first.
  std::vector<OperationRecord> list() const;

private:
  using Time = std::chrono::steady_clock::time_point;

  /// Made into text only where somebody reads it.
  struct Entry {
    Operation::Kind kind = Operation::Kind::Barrier;
    CollectiveId id;
    int64_t count = 0;
    DType type = DType::F32;
    std::string label; ///< the operation's ends with it
    Time enqueued{}, started{}, done{};
    bool failed = false;
  };
  /// Null where later ones have taken its place.
  Entry *find(uint64_t number);

  std::array<Entry, kKept> ring;
  uint64_t next = 0;
};

} // namespace dlc::runtime
