#include "rendezvous/Meeting.h"

#include "rendezvous/Digest.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dlc::runtime {
namespace {

Status misfit(std::string message) { return {StatusCode::InvalidInput, std::move(message)}; }

/// "2, 5, 6 and 40 more".
std::string listText(const std::vector<int> &ranks) {
  constexpr size_t mostShown = 16;
  std::string text;
  for (size_t i = 0; i < ranks.size() && i < mostShown; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return ranks.size() > mostShown ? text + " and " + std::to_string(ranks.size() - mostShown) + " more" : text;
}

std::string describe(const std::string &value) { return value.substr(0, value.find('\n')); }

Status parse(const std::string &verdict) {
  if (verdict == "go")
    return {};
  bool misfits = verdict.starts_with(std::to_string(static_cast<int>(StatusCode::InvalidInput)));
  return {misfits ? StatusCode::InvalidInput : StatusCode::PeerFailed,
          verdict.substr(std::min<size_t>(2, verdict.size()))};
}

} // namespace

std::string hostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string whoIs(const Contract &contract) {
  return "rank " + std::to_string(contract.rank) + " (host " + hostName() + ", pid " + std::to_string(::getpid()) + ")";
}

std::string secondsText(std::chrono::milliseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g s", static_cast<double>(time.count()) / 1000);
  return text.data();
}

std::string keyPrefix(const Contract &contract) { return "generation/" + std::to_string(contract.generation) + "/"; }

Status Meeting::arrive(const std::string &who) {
  StatusOr<Digest> nonce = drawNonce(); // one process may try twice
  if (!nonce.ok())
    return nonce.status();
  std::string mine = who + "\n" + hex(view(*nonce));
  StatusOr<std::string> there = store_.compareSet(prefix_ + std::to_string(contract_.rank), "", mine);
  if (!there.ok())
    return there.status();
  if (*there != mine)
    return fail(misfit("duplicate rank: " + describe(*there) + " and " + who + " both are rank " +
                       std::to_string(contract_.rank) + earlierRun(*there)));
  StatusOr<int64_t> count = store_.add(prefix_ + "count", 1);
  if (!count.ok() || *count < contract_.worldSize)
    return count.status();
  return store_.compareSet(prefix_ + "verdict", "", "go").status();
}

Status Meeting::agreeOnWorldSize(const std::string &who) {
  std::string mine = std::to_string(contract_.worldSize) + "\n" + who;
  StatusOr<std::string> first = store_.compareSet(prefix_ + "world", "", mine);
  if (!first.ok())
    return first.status();
  std::string size = describe(*first);
  if (size == std::to_string(contract_.worldSize))
    return {};
  std::string other = first->substr(std::min(first->size(), size.size() + 1));
  return fail(misfit("wrong world size: " + who + " has WORLD_SIZE=" + std::to_string(contract_.worldSize) + ", " +
                     other + " has WORLD_SIZE=" + size + earlierRun(other)));
}

Status Meeting::waitForAll(const std::string &absence) {
  StatusOr<std::string> verdict = store_.get(prefix_ + "verdict", deadline_);
  if (!verdict.ok() && verdict.status().code() != StatusCode::LimitExceeded)
    return verdict.status();
  if (!verdict.ok()) {
    Status missing(StatusCode::PeerFailed, absence + " within " + secondsText(contract_.timeout) +
                                               " (DLC_TIMEOUT): rank " + missingRanks() + " of " +
                                               std::to_string(contract_.worldSize));
    verdict = settle(missing);
    if (!verdict.ok())
      return missing;
  }
  return parse(*verdict);
}

void Meeting::seenByAll() {
  if (contract_.rank != 0)
    (void)store_.add(prefix_ + "seen", 1); // its reply may be lost: nothing depends on it
  else
    waitForCount("seen", contract_.worldSize - 1);
}

void Meeting::heard() {
  (void)store_.add(prefix_ + "heard", 1);
  if (!contract_.directory.empty() || (contract_.rank == 0 && !contract_.externalStore))
    waitForCount("heard", contract_.worldSize);
}

void Meeting::waitForCount(const std::string &name, int count) {
  std::string known;
  while (std::strtol(known.c_str(), nullptr, 10) < count) {
    StatusOr<std::string> next = store_.watch(prefix_ + name, known, deadline_);
    if (!next.ok())
      return; // somebody died after the verdict
    known = next.take();
  }
}

Status Meeting::fail(Status why) {
  (void)settle(why);
  return why;
}

StatusOr<std::string> Meeting::settle(const Status &why) {
  return store_.compareSet(prefix_ + "verdict", "", std::to_string(static_cast<int>(why.code())) + " " + why.message());
}

std::string Meeting::missingRanks() {
  std::vector<int> missing;
  for (int rank = 0; rank < contract_.worldSize; ++rank) {
    Status status = store_.wait(prefix_ + std::to_string(rank), Deadline());
    if (!status.ok() && status.code() != StatusCode::LimitExceeded)
      return "unknown (" + status.message() + ")";
    if (!status.ok())
      missing.push_back(rank);
  }
  return listText(missing);
}

/// A crash leaves the files of a store: says so if the other process of this host is gone.
std::string Meeting::earlierRun(const std::string &other) const {
  size_t at = other.find("pid ");
  int pid = 0;
  if (contract_.directory.empty() || at == std::string::npos)
    return {};
  std::from_chars(other.data() + at + 4, other.data() + other.size(), pid);
  if (pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH)
    return {};
  return "; pid " + std::to_string(pid) + " has ended: remove " + contract_.directory + ", left by an earlier run";
}

} // namespace dlc::runtime
