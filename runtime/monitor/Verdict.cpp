#include "monitor/Verdict.h"

#include <algorithm>
#include <cstdio>

namespace dlc::runtime {

namespace {

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", value);
  return text;
}

/// Whether `other` has not started something that `member` has.
bool behind(const Beat::Member &other, const Beat::Member &member) {
  for (size_t c = 0; c < Progress::kChannels; ++c)
    if (other.channels[c].started < member.channels[c].started)
      return true;
  return false;
}

/// The latest collective of a channel that both have started and remember, if they started different ones there.
struct Difference {
  uint64_t number;
  Progress::Mark one, other;
};
std::optional<Difference> difference(const Beat::Member::Channel &one, const Beat::Member::Channel &other) {
  uint64_t common = std::min(one.started, other.started);
  uint64_t apart = std::max(one.started, other.started) - common;
  // The oldest mark may be just being replaced.
  if (common == 0 || apart >= Progress::kMarks - 1)
    return std::nullopt;
  size_t at = size_t(common - 1) % Progress::kMarks;
  Difference found{common, Progress::Mark::of(one.marks[at]), Progress::Mark::of(other.marks[at])};
  bool known = one.marks[at] != 0 && other.marks[at] != 0;
  return known && found.one.hash != found.other.hash ? std::optional(found) : std::nullopt;
}

} // namespace

std::optional<std::string> Judge::verdict() const {
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (auto dead = deadRank(rank))
      return dead;
  if (auto left = leftEarly())
    return left;
  if (auto differ = diverged())
    return differ;
  std::optional<Waiter> waiter = longestWaiter();
  if (!waiter || waiter->seconds < 0.8 * limit)
    return std::nullopt;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (auto silent = stopped(rank, *waiter))
      return silent;
  auto late = slow(*waiter);
  return late ? late : network(*waiter);
}

std::optional<std::string> Judge::verdictOn(size_t rank) const {
  if (auto dead = deadRank(rank))
    return dead;
  std::optional<Waiter> waiter = longestWaiter();
  return waiter && waiter->seconds >= 0.8 * limit ? stopped(rank, *waiter) : std::nullopt;
}

std::optional<std::string> Judge::remark() const {
  std::optional<Waiter> waiter = longestWaiter();
  if (!waiter || waiter->seconds < limit / 4)
    return std::nullopt;
  std::string late;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    auto add = [&](const std::string &name) { late += (late.empty() ? "" : ", ") + name; };
    if (rank != waiter->rank && !responds(rank))
      add(ranks[rank].name);
    else if (ranks[rank].beat)
      for (const Beat::Member &member : ranks[rank].beat->members)
        if (behind(member, *waiter->member))
          add(nameOf(rank, member));
  }
  return waiting(*waiter) + " for " + seconds(waiter->seconds) + (late.empty() ? "" : "; not there yet: " + late) +
         "; limit " + seconds(limit);
}

// A rank that is stopped itself has not waited all the time it seems to have.
std::optional<Judge::Waiter> Judge::longestWaiter() const {
  std::optional<Waiter> longest;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].beat && responds(rank))
      for (const Beat::Member &member : ranks[rank].beat->members) {
        double time = double(member.milliseconds) / 1000 + ranks[rank].silent;
        if (member.waits() && (!longest || time > longest->seconds))
          longest = {rank, &member, time};
      }
  return longest;
}

std::optional<std::string> Judge::deadRank(size_t rank) const {
  const RankView &view = ranks[rank];
  if (!view.lost)
    return std::nullopt;
  std::string text =
      view.name + " ended without leaving the job" + (view.end.empty() ? ", or cannot be reached" : ": " + view.end);
  if (view.beat && !view.beat->members.empty())
    text += "; last seen " + doing(view.beat->members.front());
  if (std::optional<Waiter> waiter = longestWaiter())
    text += "; " + waiting(*waiter);
  return text;
}

std::optional<std::string> Judge::leftEarly() const {
  for (const RankView &leaver : ranks) {
    if (!leaver.beat)
      continue;
    for (const Beat::Member &gone : leaver.beat->members)
      for (size_t rank = 0; rank < ranks.size() && gone.phase == Phase::Leave; ++rank)
        if (ranks[rank].beat)
          for (const Beat::Member &member : ranks[rank].beat->members)
            if (member.phase == Phase::Wait && behind(gone, member))
              return leaver.name + " left early: it ended after step " + std::to_string(gone.step) + "; " +
                     waiting({rank, &member, 0});
  }
  return std::nullopt;
}

std::optional<std::string> Judge::diverged() const {
  const Beat::Member *first = nullptr;
  size_t firstRank = 0;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].beat)
      continue;
    for (const Beat::Member &member : ranks[rank].beat->members) {
      if (!first) {
        first = &member;
        firstRank = rank;
      }
      for (size_t c = 0; c < Progress::kChannels; ++c)
        if (auto found = difference(first->channels[c], member.channels[c]))
          return nameOf(firstRank, *first) + " and " + nameOf(rank, member) + " diverged: as number " +
                 std::to_string(found->number) + " of channel " + std::to_string(c) + " the first started " +
                 describe(found->one.program, found->one.index) + ", the other " +
                 describe(found->other.program, found->other.index);
    }
  }
  return std::nullopt;
}

std::optional<std::string> Judge::stopped(size_t rank, const Waiter &waiter) const {
  const RankView &view = ranks[rank];
  if (responds(rank) || !view.beat)
    return std::nullopt;
  std::string text = view.name + " stopped responding " + seconds(view.silent) + " ago, limit " + seconds(limit);
  if (!view.beat->members.empty())
    text += "; it was " + doing(view.beat->members.front());
  return text + "; " + waiting(waiter);
}

std::optional<std::string> Judge::slow(const Waiter &waiter) const {
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    for (size_t m = 0; ranks[rank].beat && m < ranks[rank].beat->members.size(); ++m) {
      const Beat::Member &member = ranks[rank].beat->members[m];
      if (!member.waits() && (behind(member, *waiter.member) || waiter.member->phase == Phase::Attach))
        return nameOf(rank, member) + " is slow or stuck: for " + seconds(double(member.milliseconds) / 1000) + " " +
               doing(member) + ", limit " + seconds(limit) + "; " + waiting(waiter);
    }
  return std::nullopt;
}

std::string Judge::network(const Waiter &waiter) const {
  std::string text =
      "all ranks wait for each other and nothing comes: network or communicator, limit " + seconds(limit);
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].beat)
      for (const Beat::Member &member : ranks[rank].beat->members)
        text += "\n  " + nameOf(rank, member) + ": " + doing(member);
  return text + "\n  " + waiting(waiter) + " for " + seconds(waiter.seconds);
}

std::string Judge::nameOf(size_t rank, const Beat::Member &member) const {
  const RankView &view = ranks[rank];
  size_t index = size_t(&member - view.beat->members.data());
  return view.beat->members.size() > 1 && index < view.members.size() ? view.name + ", " + view.members[index]
                                                                      : view.name;
}

std::string Judge::doing(const Beat::Member &member) const {
  std::string step = "in step " + std::to_string(member.step) + ", ";
  switch (member.phase) {
  case Phase::UserCode:
    return member.step == 0 ? "in user code before the first step"
                            : "in user code after step " + std::to_string(member.step);
  case Phase::Attach:
    return "attaching a program";
  case Phase::Run:
    return step + "computing";
  case Phase::Wait:
    return step + "waiting in " + describe(member.program, member.index);
  case Phase::Leave:
    return "leaving after step " + std::to_string(member.step);
  }
  return "in an unknown phase";
}

std::string Judge::waiting(const Waiter &waiter) const {
  return nameOf(waiter.rank, *waiter.member) + " is " + doing(*waiter.member);
}

} // namespace dlc::runtime
