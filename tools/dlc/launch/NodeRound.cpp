#include "launch/NodeRound.h"

#include "launch/ShutDown.h"

#include <algorithm>
#include <csignal>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace dlc::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds tick{200}, beatTime{1000}, longestSilence{30'000};
/// From a failure until every node that lives has ended its ranks, beyond the times that are set.
constexpr std::chrono::milliseconds endLimit = ShutDown::kKilled + std::chrono::seconds(2);

} // namespace

NodeRound::NodeRound(runtime::Store &store, const runtime::Contract &contract, uint64_t generation,
                     std::chrono::milliseconds shutDownTime)
    : store_(store), contract_(contract), shutDownTime_(shutDownTime),
      prefix_("launch/" + std::to_string(generation) + "/"), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      beats_(static_cast<size_t>(contract.worldSize)) {
  answered_ = Clock::now();
  for (Beat &beat : beats_)
    beat.since = answered_;
  sigset_t all, before;
  sigfillset(&all); // signals are for the main thread
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

NodeRound::~NodeRound() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  ::close(event_);
}

void NodeRound::fail(const Failure &failure) {
  std::lock_guard lock(mutex_);
  posted_ = failure;
}

void NodeRound::end(const std::vector<RankEnd> &ends, bool interrupted) {
  std::lock_guard lock(mutex_);
  endText_ = (interrupted ? "1\n" : "0\n") + encode(ends);
}

std::optional<Failure> NodeRound::failure() {
  std::lock_guard lock(mutex_);
  return agreed_;
}

bool NodeRound::allEnded() {
  uint64_t count = 0;
  (void)!::read(event_, &count, sizeof count);
  std::lock_guard lock(mutex_);
  return allEnded_;
}

void NodeRound::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_ && !allEnded_) {
    lock.unlock();
    Status status = exchangeOrWait();
    if (!status.ok())
      loseNode("lost the launcher of node 0 (" + contract_.masterAddress + ":" + std::to_string(contract_.masterPort) +
               "): " + status.message());
    lock.lock();
    if (!status.ok() && endText_ && !allEnded_) {
      allEnded_ = true; // nobody can tell of the others
      allEnds_ = decodeEnds(endText_->substr(2)).value_or(std::vector<RankEnd>());
    }
    if (!stopping_ && !allEnded_)
      changed_.wait_for(lock, agreed_ ? tick : std::chrono::milliseconds(0), [&] { return stopping_; });
  }
  lock.unlock();
  wake();
}

/// A connection that is lost says so at once. A store that only says nothing may be on a machine that is stopped for a
/// while.
Status NodeRound::exchangeOrWait() {
  constexpr std::chrono::milliseconds atOnce{2000};
  runtime::Deadline begun = Clock::now();
  Status status = exchange();
  if (status.ok())
    answered_ = Clock::now();
  bool patient = Clock::now() - begun > atOnce && Clock::now() < answered_ + silence();
  return patient ? Status() : status;
}

std::chrono::milliseconds NodeRound::silence() const { return std::min(longestSilence, contract_.timeout); }

Status NodeRound::exchange() {
  for (auto step : {&NodeRound::beat, &NodeRound::sendFailure, &NodeRound::lookForFailure, &NodeRound::sendEnds,
                    &NodeRound::lookForEnds})
    if (Status status = (this->*step)(); !status.ok() && status.code() != StatusCode::LimitExceeded)
      return status;
  return {};
}

/// Node 0 watches the others; they would notice the loss of its store.
Status NodeRound::beat() {
  if (Clock::now() < nextBeat_)
    return {};
  nextBeat_ = Clock::now() + beatTime;
  if (contract_.rank != 0)
    return store_.add(key("beat/" + std::to_string(contract_.rank)), 1).status();
  for (int node = 1; node < contract_.worldSize; ++node)
    if (Status status = watch(node); !status.ok())
      return status;
  return {};
}

Status NodeRound::watch(int node) {
  Beat &beat = beats_[static_cast<size_t>(node)];
  StatusOr<std::string> value = store_.get(key("beat/" + std::to_string(node)), runtime::Deadline());
  if (value.ok() && *value != beat.value)
    beat = {value.take(), Clock::now(), beat.lost};

  bool gone = store_.wait(goneKey(node), {}).ok(), silent = Clock::now() > beat.since + silence();
  if (beat.lost || !(gone || silent) || store_.wait(key("ended/" + std::to_string(node)), {}).ok())
    return {}; // what has ended, well or not, owes no sign
  beat.lost = true;
  loseNode("lost the launcher of node " + std::to_string(node) + ": " +
           (gone ? "its connection is closed" : "no sign of it for " + std::to_string(silence().count()) + " ms"));
  return store_.add(key("lost"), 1).status();
}

void NodeRound::loseNode(const std::string &what) {
  if (std::exchange(lostNode_, true))
    return;
  constexpr int peerFailed = 4;
  std::lock_guard lock(mutex_);
  if (!agreed_)
    posted_ = {peerFailed, -1, what};
  if (!agreed_ && contract_.rank != 0)
    agreed_ = posted_; // the store is lost too
  if (failedAt_ == runtime::Deadline())
    failedAt_ = Clock::now();
  wake();
}

void NodeRound::wake() const { ::eventfd_write(event_, 1); }

Status NodeRound::sendFailure() {
  std::optional<Failure> mine;
  {
    std::lock_guard lock(mutex_);
    mine.swap(posted_);
  }
  if (!mine)
    return {};
  std::string text = encode(*mine);
  StatusOr<std::string> first = store_.compareSet(key("failure"), "", text);
  if (!first.ok())
    return first.status();
  std::optional<Failure> known = decodeFailure(*first);
  if (known && known->blamesPeer() && !mine->blamesPeer()) // the reason itself
    first = store_.compareSet(key("failure"), *first, text);
  return first.status();
}

Status NodeRound::lookForFailure() {
  {
    std::lock_guard lock(mutex_);
    if (agreed_)
      return {};
  }
  StatusOr<std::string> text = store_.watch(key("failure"), "", Clock::now() + tick);
  if (text.ok())
    if (std::optional<Failure> failure = decodeFailure(*text))
      learn(*failure);
  return text.status();
}

void NodeRound::learn(const Failure &failure) {
  std::lock_guard lock(mutex_);
  if (!agreed_)
    failedAt_ = Clock::now();
  agreed_ = failure;
  wake();
}

Status NodeRound::sendEnds() {
  std::optional<std::string> text;
  {
    std::lock_guard lock(mutex_);
    text = endText_;
  }
  if (sentEnds_ || !text)
    return {};
  if (Status status = store_.set(key("ended/" + std::to_string(contract_.rank)), *text); !status.ok())
    return status;
  sentEnds_ = true;
  return store_.add(key("ended"), 1).status();
}

/// All have ended when those that are not lost have; the limit is for nodes that are lost without anyone knowing.
Status NodeRound::lookForEnds() {
  if (!sentEnds_)
    return {};
  int64_t ended = 0, lost = 0;
  for (auto [name, count] : {std::pair("ended", &ended), std::pair("lost", &lost)}) {
    StatusOr<int64_t> sum = store_.add(key(name), 0);
    if (!sum.ok())
      return sum.status();
    *count = *sum;
  }
  bool late = failedAt_ != runtime::Deadline() && Clock::now() > failedAt_ + shutDownTime_ + endLimit;
  if (ended + lost < contract_.worldSize && !late)
    return {};
  for (int node = 0; node < contract_.worldSize; ++node) {
    StatusOr<std::string> text = store_.get(key("ended/" + std::to_string(node)), runtime::Deadline());
    std::optional<std::vector<RankEnd>> ends;
    if (text.ok() && text->size() >= 2)
      ends = decodeEnds(text->substr(2));
    lostNode_ = lostNode_ || !ends;
    if (!ends)
      continue;
    interrupted_ = interrupted_ || text->starts_with('1');
    allEnds_.insert(allEnds_.end(), ends->begin(), ends->end());
  }
  if (StatusOr<std::string> last = store_.get(key("failure"), runtime::Deadline()); last.ok())
    if (std::optional<Failure> failure = decodeFailure(*last))
      learn(*failure);
  std::lock_guard lock(mutex_);
  allEnded_ = true;
  return {};
}

} // namespace dlc::launch
