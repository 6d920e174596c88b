#pragma once

#include "comm/host/Operation.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace dlc::runtime {

/// What the members of one in-process channel share.
///
/// A value that others wait for is an atomic that only its owner writes, and announce() after it. Memory of other
/// members is touched only inside a Visit; once the channel has failed no new one starts, so when those are over
/// (settle) everybody's memory is its owner's again.
class MemberTable {
public:
  explicit MemberTable(const Group &group)
      : name(group.name), names(group.members), members(new Member[names.size()]),
        boxes(new Box[names.size() * names.size()]) {}

  struct alignas(64) Member {
    std::atomic<uint64_t> entered = 0, done = 0; ///< collectives
    std::atomic<bool> visiting = false, joined = false, gone = false;
    const Operation *operation = nullptr; ///< valid from `entered` until all are `done`
  };
  /// Between one sender and one receiver.
  struct Box {
    std::atomic<uint64_t> posted = 0, taken = 0; ///< written by the sender, by the receiver
    const Operation *operation = nullptr;        ///< the sender's, between `posted` and `taken`
  };

  int size() const { return int(names.size()); }
  Member &member(int rank) { return members[size_t(rank)]; }
  Box &box(int from, int to) { return boxes[size_t(from) * names.size() + size_t(to)]; }

  /// Wakes those who wait.
  void announce();

  /// Keeps the first failure, wakes all, returns that first one.
  Status fail(const Status &why);
  bool hasFailed() const { return failed.load(); }
  Status failure() const;

  /// Waits until `reached(m)` holds for members [first, last), or the channel has failed; a member that is gone will
  /// never reach it, and that fails the channel. `missing` shows meanwhile whom it waits for, under `lock`.
  template <typename Reached>
  Status await(int first, int last, std::vector<int> &missing, Reached reached);

  /// After a failure: waits until nobody is inside another member's memory.
  void settle() const;

  /// While it lives this member may touch others' memory, if it is admitted.
  class Visit {
  public:
    Visit(MemberTable &table, int rank) : visiting(table.member(rank).visiting) {
      visiting = true;
      admitted = !table.hasFailed();
    }
    ~Visit() { visiting = false; }
    Visit(const Visit &) = delete;
    Visit &operator=(const Visit &) = delete;

    bool admitted = false;

  private:
    std::atomic<bool> &visiting;
  };

  const std::string name;
  const std::vector<std::string> names;
  mutable std::mutex lock;

private:
  Status lost(int member);

  std::unique_ptr<Member[]> members;
  std::unique_ptr<Box[]> boxes;
  std::condition_variable changed;
  std::atomic<int> sleepers = 0;
  std::atomic<bool> failed = false;
  Status failure_;
};

template <typename Reached>
Status MemberTable::await(int first, int last, std::vector<int> &missing, Reached reached) {
  constexpr auto kSpin = std::chrono::microseconds(20);
  auto all = [&] {
    for (int m = first; m < last; ++m)
      if (!reached(m))
        return false;
    return true;
  };
  auto until = std::chrono::steady_clock::now() + kSpin;
  do {
    // First: what all have reached is done, whatever came after.
    if (all())
      return {};
    if (failed)
      return failure();
  } while (std::chrono::steady_clock::now() < until);

  std::unique_lock guard(lock);
  ++sleepers;
  int gone = -1;
  while (true) {
    bool over = failed;
    missing.clear();
    for (int m = first; m < last; ++m) {
      // Read before: what a member reached it reached before it went.
      bool left = member(m).gone;
      if (reached(m))
        continue;
      missing.push_back(m);
      if (left)
        gone = m;
    }
    if (missing.empty() || over || gone >= 0)
      break;
    changed.wait(guard);
  }
  --sleepers;
  bool complete = missing.empty();
  missing.clear();
  guard.unlock();
  return complete ? Status() : gone >= 0 ? lost(gone) : failure();
}

} // namespace dlc::runtime
