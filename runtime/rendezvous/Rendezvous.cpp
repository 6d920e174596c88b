#include "dlc/runtime/Rendezvous.h"

#include "rendezvous/Digest.h"
#include "rendezvous/FileStore.h"
#include "rendezvous/Secret.h"
#include "rendezvous/TcpStore.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dlc::runtime {
namespace {

using Clock = std::chrono::steady_clock;

std::string hostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string limitText(std::chrono::milliseconds limit) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g s", static_cast<double>(limit.count()) / 1000);
  return text.data();
}

Status misfit(std::string message) { return {StatusCode::InvalidInput, std::move(message)}; }

/// "2, 5, 6 and 40 more".
std::string listText(const std::vector<int> &ranks) {
  constexpr size_t mostShown = 16;
  std::string text;
  for (size_t i = 0; i < ranks.size() && i < mostShown; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return ranks.size() > mostShown ? text + " and " + std::to_string(ranks.size() - mostShown) + " more" : text;
}

StatusOr<std::unique_ptr<Store>> openTcp(const Contract &contract) {
  StatusOr<std::string> secret = readSecret(contract);
  if (!secret.ok())
    return secret.status();
  TcpStoreOptions options;
  options.address = contract.masterAddress;
  options.port = contract.masterPort;
  options.secret = secret.take();
  options.generation = contract.generation;
  options.rank = contract.rank;
  options.timeout = contract.timeout;
  if (contract.rank != 0 || contract.externalStore)
    return connectStore(options);
  StatusOr<std::unique_ptr<StoreServer>> server = serveStore(options);
  if (!server.ok())
    return server.status();
  StatusOr<std::unique_ptr<Store>> store = connectStore(options);
  if (store.ok())
    static_cast<TcpStore *>(store->get())->keep(server.take());
  return store;
}

StatusOr<std::unique_ptr<Store>> openStore(const Contract &contract) {
  if (contract.worldSize == 1 && !contract.externalStore)
    return createMemoryStore();
  if (!contract.directory.empty())
    return openFileStore(contract.directory, contract.timeout);
  if (contract.masterAddress.empty())
    return misfit(std::to_string(contract.worldSize) + " ranks expect an address to meet at, got none");
  return openTcp(contract);
}

/// A point that all ranks reach, or all learn why not. Its keys: `stage`/<rank> who is there, `stage`/count, and
/// `stage`/verdict, set once: "go", or the reason.
class Meeting {
public:
  Meeting(Store &store, const Contract &contract, const std::string &stage, Deadline deadline)
      : store_(store), contract_(contract), deadline_(deadline),
        prefix_("generation/" + std::to_string(contract.generation) + "/" + stage + "/") {}

  /// Says that this rank is here; `who` describes it.
  Status arrive(const std::string &who) {
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

  /// All ranks must say the same world size.
  Status agreeOnWorldSize(const std::string &who) {
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

  Status waitForAll(const std::string &absence) {
    StatusOr<std::string> verdict = store_.get(prefix_ + "verdict", deadline_);
    if (!verdict.ok() && verdict.status().code() != StatusCode::LimitExceeded)
      return verdict.status();
    if (!verdict.ok()) {
      Status missing(StatusCode::PeerFailed, absence + " within " + limitText(contract_.timeout) +
                                                 " (DLC_TIMEOUT): rank " + missingRanks() + " of " +
                                                 std::to_string(contract_.worldSize));
      verdict = settle(missing);
      if (!verdict.ok())
        return missing;
    }
    return parse(*verdict);
  }

  /// Rank 0 waits until the others know the verdict, since the store may end with it.
  void seenByAll() {
    std::string key = prefix_ + "seen", seen;
    if (contract_.rank != 0) {
      (void)store_.add(key, 1); // its reply may be lost: nothing depends on it
      return;
    }
    std::string all = std::to_string(contract_.worldSize - 1);
    while (contract_.worldSize > 1 && seen != all) {
      StatusOr<std::string> next = store_.watch(key, seen, deadline_);
      if (!next.ok())
        return; // somebody died after the verdict
      seen = next.take();
    }
  }

private:
  static std::string describe(const std::string &value) { return value.substr(0, value.find('\n')); }

  /// The first verdict is everybody's, and the caller keeps its own reason.
  Status fail(Status why) {
    (void)settle(why);
    return why;
  }

  StatusOr<std::string> settle(const Status &why) {
    return store_.compareSet(prefix_ + "verdict", "",
                             std::to_string(static_cast<int>(why.code())) + " " + why.message());
  }

  static Status parse(const std::string &verdict) {
    if (verdict == "go")
      return {};
    bool misfits = verdict.starts_with(std::to_string(static_cast<int>(StatusCode::InvalidInput)));
    return {misfits ? StatusCode::InvalidInput : StatusCode::PeerFailed,
            verdict.substr(std::min<size_t>(2, verdict.size()))};
  }

  std::string missingRanks() {
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
  std::string earlierRun(const std::string &other) const {
    size_t at = other.find("pid ");
    int pid = 0;
    if (contract_.directory.empty() || at == std::string::npos)
      return {};
    std::from_chars(other.data() + at + 4, other.data() + other.size(), pid);
    if (pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH)
      return {};
    return "; pid " + std::to_string(pid) + " has ended: remove " + contract_.directory + ", left by an earlier run";
  }

  Store &store_;
  const Contract &contract_;
  Deadline deadline_;
  std::string prefix_;
};

std::string whoIs(const Contract &contract) {
  return "rank " + std::to_string(contract.rank) + " (host " + hostName() + ", pid " + std::to_string(::getpid()) + ")";
}

Status meet(Store &store, const Contract &contract, Deadline deadline) {
  Meeting meeting(store, contract, "start", deadline);
  std::string who = whoIs(contract);
  if (Status status = meeting.agreeOnWorldSize(who); !status.ok())
    return status;
  if (Status status = meeting.arrive(who); !status.ok())
    return status;
  return meeting.waitForAll("not all ranks came");
}

} // namespace

StatusOr<std::unique_ptr<Store>> rendezvous(const Contract &contract) {
  Deadline deadline = Clock::now() + contract.timeout;
  if (contract.worldSize < 1 || contract.rank < 0 || contract.rank >= contract.worldSize)
    return misfit("rank " + std::to_string(contract.rank) + " is out of range: the job has " +
                  std::to_string(contract.worldSize) + " ranks, from 0");
  StatusOr<std::unique_ptr<Store>> store = openStore(contract);
  if (!store.ok())
    return store;
  if (Status status = meet(**store, contract, deadline); !status.ok())
    return status;
  return store;
}

Status leave(Store &store, const Contract &contract) {
  Meeting meeting(store, contract, "end", Clock::now() + contract.timeout);
  if (Status status = meeting.arrive(whoIs(contract)); !status.ok())
    return status;
  Status status = meeting.waitForAll("not all ranks ended");
  if (status.ok())
    meeting.seenByAll();
  return status;
}

} // namespace dlc::runtime
