#include "monitor/Monitor.h"

#include "rendezvous/Meeting.h"
#include "rendezvous/OpenStore.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace dlc::runtime {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Of every request: a store that takes longer is asked again, and its silence counts.
milliseconds patience(const Contract &contract) {
  return std::clamp(contract.timeout / 10, milliseconds(100), milliseconds(1000));
}
milliseconds period(const Contract &contract) { return std::min(milliseconds(250), contract.timeout / 20); }

double secondsSince(Clock::time_point time) { return std::chrono::duration<double>(Clock::now() - time).count(); }

constexpr const char *kLost = "lost";
constexpr size_t kLongestVerdict = 16384;

std::string textOf(const Status &verdict) {
  return std::to_string(int(verdict.code())) + " " + verdict.message().substr(0, kLongestVerdict);
}

Status verdictOf(const std::string &text) {
  bool misfit = text.starts_with(std::to_string(int(StatusCode::InvalidInput)));
  return {misfit ? StatusCode::InvalidInput : StatusCode::PeerFailed, text.substr(std::min<size_t>(2, text.size()))};
}

} // namespace

StatusOr<std::unique_ptr<Store>> Monitor::connect(const Contract &contract) {
  return connectAgain(contract, patience(contract));
}

StatusOr<std::unique_ptr<Monitor>> Monitor::start(const Contract &contract, Options options,
                                                  std::unique_ptr<Store> connection) {
  std::unique_ptr<Monitor> monitor(new Monitor(contract, std::move(options), std::move(connection)));
  std::string mine = monitor->key(std::to_string(contract.rank));
  if (Status status = monitor->store_->setWhenLost(mine, kLost); !status.ok())
    return status;
  sigset_t all, before;
  sigfillset(&all); // signals are for the program's own threads
  pthread_sigmask(SIG_BLOCK, &all, &before);
  monitor->thread_ = std::thread([self = monitor.get()] { self->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return monitor;
}

Monitor::Monitor(const Contract &contract, Options options, std::unique_ptr<Store> store)
    : contract_(contract), options_(std::move(options)), store_(std::move(store)),
      limit_(std::chrono::duration<double>(contract.timeout).count()), changed_(options_.ranks.size(), Clock::now()),
      answered_(Clock::now()) {
  for (size_t rank = 0; rank < options_.ranks.size(); ++rank)
    views_.push_back({.name = options_.ranks[rank], .members = options_.devices[rank]});
}

Monitor::~Monitor() { stop(); }

void Monitor::stop() {
  {
    std::lock_guard guard(lock_);
    stopping_ = true;
    wake_.notify_all();
  }
  if (thread_.joinable())
    thread_.join();
}

std::string Monitor::key(const std::string &name) const { return keyPrefix(contract_) + "monitor/" + name; }

void Monitor::run() {
  std::unique_lock guard(lock_);
  while (!stopping_) {
    guard.unlock();
    bool more = look();
    guard.lock();
    if (!more)
      return;
    wake_.wait_for(guard, period(contract_), [&] { return stopping_; });
  }
}

bool Monitor::look() {
  Clock::time_point begun = Clock::now();
  Beat beat;
  beat.number = ++beats_;
  for (const Progress *member : options_.members)
    beat.members.push_back(Beat::of(*member));
  size_t self = size_t(contract_.rank);
  views_[self].beat = beat;
  if (Status status = store_->set(key(std::to_string(self)), beat.text()); !status.ok())
    return storeFails(status, begun);
  Clock::time_point asked = Clock::now();
  StatusOr<std::string> verdict = store_->get(key("verdict"), Deadline());
  if (verdict.ok()) {
    deliver(verdictOf(*verdict));
    return false;
  }
  if (verdict.status().code() != StatusCode::LimitExceeded)
    return storeFails(verdict.status(), asked);
  answered_ = Clock::now();
  return judge();
}

bool Monitor::judge() {
  Clock::time_point begun = Clock::now();
  size_t self = size_t(contract_.rank), count = self == 0 ? views_.size() : 1;
  for (size_t rank = 0; rank < count; ++rank) {
    if (rank == self) {
      changed_[rank] = Clock::now();
      continue;
    }
    Clock::time_point asked = Clock::now();
    StatusOr<std::string> text = view(rank);
    if (!text.ok() && text.status().code() != StatusCode::LimitExceeded)
      return storeFails(text.status(), asked);
  }
  // This process may have been stopped itself between its questions: it asks again before it blames others.
  if (secondsSince(begun) > 1)
    return true;
  for (size_t rank = 0; rank < views_.size(); ++rank)
    views_[rank].silent = rank == self || rank >= count ? 0 : secondsSince(changed_[rank]);
  Judge judge(views_, limit_, options_.describe);
  if (std::optional<std::string> text = self == 0 ? judge.verdict() : judge.verdictOn(0))
    return pronounce(*text);
  std::optional<std::string> remark = self == 0 ? judge.remark() : std::nullopt;
  if (remark && !remarked_)
    std::fprintf(stderr, "dlc: remark: %s\n", remark->c_str());
  remarked_ = remark.has_value();
  return true;
}

/// Reads a rank's last sign.
StatusOr<std::string> Monitor::view(size_t rank) {
  StatusOr<std::string> text = store_->get(key(std::to_string(rank)), Deadline());
  if (!text.ok())
    return text;
  RankView &view = views_[rank];
  if (*text == kLost) {
    if (!std::exchange(view.lost, true) && contract_.externalStore)
      // The launcher hears of an end when the store does.
      if (StatusOr<std::string> end = store_->get(keyPrefix(contract_) + "launcher/" + std::to_string(rank),
                                                  Clock::now() + patience(contract_));
          end.ok())
        view.end = end.take();
    return text;
  }
  std::optional<Beat> beat = Beat::parse(*text);
  if (beat && (!view.beat || beat->number != view.beat->number)) {
    view.beat = std::move(beat);
    changed_[rank] = Clock::now();
  }
  return text;
}

/// A connection that is lost answers before its time.
bool Monitor::storeFails(const Status &why, Clock::time_point called) {
  {
    std::lock_guard guard(lock_);
    if (stopping_)
      return false;
  }
  if (Clock::now() - called < patience(contract_) * 9 / 10) {
    deliver(
        {StatusCode::PeerFailed, servant() + " ended without leaving the job, or cannot be reached: " + why.message()});
    return false;
  }
  double silent = secondsSince(answered_);
  if (silent < Judge::kSilence || longestOwnWait() < 0.8 * limit_)
    return true;
  char text[64];
  std::snprintf(text, sizeof text, " stopped responding %.1f s ago, limit %.1f s", silent, limit_);
  deliver({StatusCode::PeerFailed, servant() + text + ": its store says nothing"});
  return false;
}

std::string Monitor::storeLost(const Status &why) const {
  return servant() + " ended without leaving the job, or cannot be reached: " + why.message();
}

std::string Monitor::servant() const {
  return contract_.externalStore ? "the launcher, which serves the store," : options_.ranks[0];
}

double Monitor::longestOwnWait() const {
  double longest = 0;
  for (const Progress *member : options_.members)
    if (Beat::Member now = Beat::of(*member); now.waits())
      longest = std::max(longest, double(now.milliseconds) / 1000);
  return longest;
}

/// Sets the verdict, unless all ranks have reached the end meanwhile.
bool Monitor::pronounce(const std::string &text) {
  if (StatusOr<std::string> end = store_->get(keyPrefix(contract_) + "end/verdict", Deadline());
      end.ok() && *end == "go")
    return false;
  Status verdict(StatusCode::PeerFailed, text);
  StatusOr<std::string> first = store_->compareSet(key("verdict"), "", textOf(verdict));
  deliver(first.ok() ? verdictOf(*first) : verdict);
  return false;
}

void Monitor::deliver(const Status &verdict) {
  if (countSeen())
    options_.verdict(verdict);
}

/// Says once that this rank knows the verdict; false where it has been said, or is no matter any more.
bool Monitor::countSeen() {
  {
    std::lock_guard guard(lock_);
    if (delivered_ || stopping_)
      return false;
    delivered_ = true;
  }
  (void)store_->add(key("verdict/seen"), 1);
  return true;
}

Status Monitor::settle(const Status &why, bool own) {
  // The end of a rank closes its connections to the members and to the store at once; the monitors look every period.
  StatusOr<std::string> better = store_->get(key("verdict"), own ? Deadline() : Clock::now() + 4 * period(contract_));
  if (!better.ok() && better.status().code() == StatusCode::LimitExceeded)
    better = store_->compareSet(key("verdict"), "", textOf(why));
  (void)countSeen();
  if (better.ok())
    return verdictOf(*better);
  return own ? why : Status(StatusCode::PeerFailed, storeLost(better.status()) + "; " + why.message());
}

void Monitor::linger() {
  stop(); // what follows is this thread's alone
  Clock::time_point end = Clock::now() + std::min<milliseconds>(milliseconds(3000), contract_.timeout / 2);
  std::string seen;
  while (Clock::now() < end) {
    size_t others = 0;
    for (size_t rank = 0; rank < views_.size(); ++rank) {
      if (StatusOr<std::string> text = view(rank); !text.ok() && text.status().code() != StatusCode::LimitExceeded)
        return;
      others += views_[rank].lost ? 0 : 1;
    }
    if (std::strtoul(seen.c_str(), nullptr, 10) >= others)
      return;
    StatusOr<std::string> next =
        store_->watch(key("verdict/seen"), seen, std::min(end, Clock::now() + milliseconds(100)));
    if (next.ok())
      seen = next.take();
  }
}

} // namespace dlc::runtime
