#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace dlc::runtime {

/// What a member is doing. Waits are those for other members.
enum class Phase : uint8_t { UserCode, Attach, Run, Wait, Leave };

/// Where a member is, in words that its thread writes and the monitor reads; no locks.
class Progress {
public:
  static constexpr size_t kChannels = 4, kMarks = 8;

  void enter(Phase phase, uint32_t program = 0, uint32_t index = 0) {
    program_.store(program, std::memory_order_relaxed);
    index_.store(index, std::memory_order_relaxed);
    phase_.store(phase, std::memory_order_relaxed);
    since_.store(now(), std::memory_order_relaxed);
  }
  void beginStep() { step_.fetch_add(1, std::memory_order_relaxed); }

  /// A collective of `count` elements was started on a channel; the sequence of these is the same on all members.
  void started(size_t channel, uint32_t program, uint32_t index, int64_t count) {
    Channel &c = channels_[channel % kChannels];
    uint64_t number = c.started.load(std::memory_order_relaxed);
    uint64_t hash = c.rolling;
    for (uint64_t word : {uint64_t(program), uint64_t(index), uint64_t(count)})
      hash = (hash ^ word) * 0x100000001b3U + (hash >> 29);
    c.rolling = hash;
    c.marks[number % kMarks].store(Mark{uint32_t(hash >> 32 ^ hash), program, index}.word(), std::memory_order_relaxed);
    c.started.store(number + 1, std::memory_order_release);
  }

  /// A collective that was started: which one, and a hash of all up to it.
  struct Mark {
    uint32_t hash, program, index;
    uint64_t word() const { return uint64_t(hash) << 32 | (program & 0xFFFU) << 20 | (index & 0xFFFFFU); }
    static Mark of(uint64_t word) {
      return {uint32_t(word >> 32), uint32_t(word >> 20) & 0xFFFU, uint32_t(word) & 0xFFFFFU};
    }
  };
  struct Channel {
    std::atomic<uint64_t> started = 0;
    std::array<std::atomic<uint64_t>, kMarks> marks{}; ///< of the last ones, by number modulo kMarks
    uint64_t rolling = 0xcbf29ce484222325U;            ///< its member's alone
  };

  uint64_t step() const { return step_.load(std::memory_order_relaxed); }
  Phase phase() const { return phase_.load(std::memory_order_relaxed); }
  uint32_t program() const { return program_.load(std::memory_order_relaxed); }
  uint32_t index() const { return index_.load(std::memory_order_relaxed); }
  int64_t milliseconds() const { return (now() - since_.load(std::memory_order_relaxed)) / 1'000'000; }
  const Channel &channel(size_t i) const { return channels_[i]; }

private:
  static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  std::atomic<uint64_t> step_ = 0;
  std::atomic<Phase> phase_ = Phase::UserCode;
  std::atomic<uint32_t> program_ = 0, index_ = 0; ///< of what it runs or waits for: the entry, or the collective
  std::atomic<int64_t> since_ = now();
  std::array<Channel, kChannels> channels_;
};

} // namespace dlc::runtime
