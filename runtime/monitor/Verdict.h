#pragma once

#include "monitor/Beat.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dlc::runtime {

/// What is known of a rank.
struct RankView {
  std::string name;                        ///< "rank 2 (host b, pid 4711)"
  std::vector<std::string> members{};      ///< what names them: "cpu:1"; needed where there are several
  bool lost = false;                       ///< its connection closed
  double silent = 0;                       ///< seconds since its last sign
  std::optional<Beat> beat = std::nullopt; ///< the last one
  std::string end{};                       ///< what the launcher says of it, if lost: "exit code 3"
};

/// Judges a job from what its ranks tell. Pure: given the same, it says the same.
class Judge {
public:
  /// A rank that says nothing for so long may be stopped; a loaded machine needs less.
  static constexpr double kSilence = 2;

  /// `limit` in seconds; `describe` says what a collective of a program is.
  Judge(const std::vector<RankView> &ranks, double limit, std::function<std::string(uint32_t, uint32_t)> describe)
      : ranks(ranks), limit(limit), describe(std::move(describe)) {}

  /// Who is to blame, in one or two lines; nothing while all may be well.
  std::optional<std::string> verdict() const;
  /// Only whether this rank is gone or stopped, for one who does not judge the others.
  std::optional<std::string> verdictOn(size_t rank) const;
  /// After a quarter of the limit: who is waited for.
  std::optional<std::string> remark() const;

private:
  /// A member that waits for others.
  struct Waiter {
    size_t rank = 0;
    const Beat::Member *member = nullptr;
    double seconds = 0;
  };

  std::optional<Waiter> longestWaiter() const;
  std::optional<std::string> deadRank(size_t rank) const;
  std::optional<std::string> leftEarly() const;
  std::optional<std::string> diverged() const;
  std::optional<std::string> stopped(size_t rank, const Waiter &waiter) const;
  std::optional<std::string> slow(const Waiter &waiter) const;
  std::string network(const Waiter &waiter) const;

  bool responds(size_t rank) const { return !ranks[rank].lost && ranks[rank].silent < kSilence; }
  /// The rank, and which of its members where it has several.
  std::string nameOf(size_t rank, const Beat::Member &member) const;
  std::string doing(const Beat::Member &member) const;
  std::string waiting(const Waiter &waiter) const;

  const std::vector<RankView> &ranks;
  double limit;
  std::function<std::string(uint32_t, uint32_t)> describe;
};

} // namespace dlc::runtime
