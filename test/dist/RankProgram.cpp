// A rank of the launcher's tests: it meets the others, adds up their ranks over the store, says so, and then does what
// its arguments ask of it, each `<rank or *>:<action>[=<value>]`, in order.
#include "dlc/runtime/Rendezvous.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>

using namespace dlc;
using namespace dlc::runtime;

namespace {

void pauseForever() {
  while (true)
    ::pause();
}

/// A process below this one that takes no notice of SIGTERM and keeps this one's streams.
void grandchild(bool ownSession) {
  std::fflush(stdout);
  if (::fork() != 0)
    return;
  std::signal(SIGTERM, SIG_IGN);
  if (ownSession) {
    ::setsid();
    if (::fork() != 0)
      ::_exit(0);
  }
  pauseForever();
}

struct Rank {
  Contract contract;
  std::unique_ptr<Store> store;
};

Status meet(const Rank &rank, const std::string &key) {
  auto deadline = std::chrono::steady_clock::now() + rank.contract.timeout;
  StatusOr<int64_t> count = rank.store->add(key, 1);
  if (!count.ok())
    return count.status();
  for (std::string all = std::to_string(rank.contract.worldSize), seen; seen != all;) {
    StatusOr<std::string> next = rank.store->watch(key, seen, deadline);
    if (!next.ok())
      return next.status();
    seen = *next;
  }
  return {};
}

void say(const std::string &text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

/// Lines of 100 bytes, in pieces that cut them anywhere.
void writeLines(int rank, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    std::string line = "line " + std::to_string(i) + " of rank " + std::to_string(rank) + " ";
    all += line + std::string(99 - line.size(), char('a' + rank)) + "\n";
  }
  for (size_t at = 0, size = 1; at < all.size(); at += size, size = size % 193 + 7)
    say(all.substr(at, size));
}

int number(const std::string &text) { return int(std::strtol(text.c_str(), nullptr, 10)); }

using Action = std::function<void(const Rank &rank, const std::string &value)>;

std::map<std::string, Action> actionsByName() {
  return {
      {"exit", [](const Rank &, const std::string &value) { std::_Exit(number(value)); }},
      {"signal", [](const Rank &, const std::string &value) { std::raise(number(value)); }},
      {"hang", [](const Rank &, const std::string &) { pauseForever(); }},
      {"sleep", [](const Rank &, const std::string &value) { ::usleep(useconds_t(number(value)) * 1000); }},
      {"ignore", [](const Rank &, const std::string &value) { std::signal(number(value), SIG_IGN); }},
      {"handle", // a signal, by saying so
       [](const Rank &, const std::string &value) {
         std::signal(number(value), [](int signal) {
           char text[] = "got signal 00\n";
           text[11] = char('0' + signal / 10);
           text[12] = char('0' + signal % 10);
           (void)!::write(STDOUT_FILENO, text, sizeof text - 1);
         });
       }},
      {"endon", // a signal, with code 0
       [](const Rank &, const std::string &value) { std::signal(number(value), [](int) { ::_exit(0); }); }},
      {"meet", [](const Rank &rank, const std::string &value) { (void)meet(rank, value); }},
      {"ended", // what the launcher says of another rank
       [](const Rank &rank, const std::string &value) {
         std::string key = "generation/" + std::to_string(rank.contract.generation) + "/launcher/" + value;
         StatusOr<std::string> text = rank.store->get(key, std::chrono::steady_clock::now() + rank.contract.timeout);
         say("rank " + value + ": " + (text.ok() ? *text : text.status().message()) + "\n");
       }},
      {"grandchild", [](const Rank &, const std::string &) { grandchild(false); }},
      {"daemon", [](const Rank &, const std::string &) { grandchild(true); }},
      {"print", [](const Rank &, const std::string &value) { say(value); }},
      {"line", [](const Rank &, const std::string &value) { say(value + "\n"); }},
      {"error", [](const Rank &, const std::string &value) { std::fprintf(stderr, "%s\n", value.c_str()); }},
      {"lines", [](const Rank &rank, const std::string &value) { writeLines(rank.contract.rank, number(value)); }},
      {"long", [](const Rank &, const std::string &value) { say(std::string(size_t(number(value)), 'x')); }},
  };
}

/// Generations have a rank's actions when their number comes behind it: "1@0:exit=3" only in the first.
bool concerns(std::string_view who, const Contract &contract) {
  size_t at = who.find('@');
  if (at != std::string_view::npos && who.substr(at + 1) != std::to_string(contract.generation))
    return false;
  who = who.substr(0, at);
  return who == "*" || who == std::to_string(contract.rank);
}

int fail(const Status &status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.code() == StatusCode::PeerFailed ? 4 : 1;
}

} // namespace

int main(int argc, char **argv) {
  const std::map<std::string, Action> actions = actionsByName();
  StatusOr<Contract> contract = detectContract(currentEnvironment());
  if (!contract.ok())
    return fail(contract.status());
  StatusOr<std::unique_ptr<Store>> store = rendezvous(*contract);
  if (!store.ok())
    return fail(store.status());
  Rank rank{*contract, store.take()};
  StatusOr<int64_t> sum = rank.store->add("sum", contract->rank + 1);
  if (Status status = meet(rank, "count"); !status.ok())
    return fail(status);
  sum = rank.store->add("sum", 0);
  say("sum " + std::to_string(sum.ok() ? *sum : -1) + " pid " + std::to_string(::getpid()) + " port " +
      std::to_string(contract->masterPort) + "\n");
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    size_t colon = text.find(':'), equals = std::min(text.find('=', colon), text.size());
    auto action = actions.find(text.substr(colon + 1, equals - colon - 1));
    if (colon == std::string::npos || action == actions.end())
      return fail({StatusCode::InvalidInput, "no action " + text});
    if (concerns(text.substr(0, colon), *contract))
      action->second(rank, text.substr(std::min(equals + 1, text.size())));
  }
  Status status = leave(*rank.store, *contract);
  return status.ok() ? 0 : fail(status);
}
