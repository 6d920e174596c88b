#include "rendezvous/TcpStore.h"

#include "rendezvous/KeyTable.h"
#include "rendezvous/Socket.h"

#include <algorithm>
#include <charconv>

namespace dlc::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// How long after a wait's end its reply may take at least and at most: then the store is silent.
constexpr std::chrono::milliseconds shortestReply{1000}, longestReply{5000};

uint64_t millisecondsLeft(Deadline deadline) {
  return static_cast<uint64_t>(
      std::max<int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count()));
}

Status checkSizes(std::string_view key, std::string_view first, std::string_view second = {}) {
  for (const Status &status : {checkKey(key), checkValue(first), checkValue(second)})
    if (!status.ok())
      return status;
  return {};
}

} // namespace

Status TcpStore::set(std::string_view key, std::string_view value) {
  if (Status status = checkSizes(key, value); !status.ok())
    return status;
  return call(FrameType::Set, BodyWriter().text(key).text(value), Clock::now() + timeout_).status();
}

Status TcpStore::setWhenLost(std::string_view key, std::string_view value) {
  if (Status status = checkSizes(key, value); !status.ok())
    return status;
  return call(FrameType::SetWhenLost, BodyWriter().text(key).text(value), Clock::now() + timeout_).status();
}

StatusOr<int64_t> TcpStore::add(std::string_view key, int64_t delta) {
  if (Status status = checkKey(key); !status.ok())
    return status;
  StatusOr<std::string> sum =
      call(FrameType::Add, BodyWriter().text(key).number(static_cast<uint64_t>(delta)), Clock::now() + timeout_);
  if (!sum.ok())
    return sum.status();
  return addToText(*sum, 0);
}

StatusOr<std::string> TcpStore::compareSet(std::string_view key, std::string_view expected, std::string_view desired) {
  if (Status status = checkSizes(key, expected, desired); !status.ok())
    return status;
  return call(FrameType::CompareSet, BodyWriter().text(key).text(expected).text(desired), Clock::now() + timeout_);
}

StatusOr<std::string> TcpStore::get(std::string_view key, Deadline deadline) {
  if (Status status = checkKey(key); !status.ok())
    return status;
  return call(FrameType::Get, BodyWriter().number(millisecondsLeft(deadline)).text(key),
              std::max(deadline, Clock::now()) + replyLimit());
}

StatusOr<std::string> TcpStore::watch(std::string_view key, std::string_view known, Deadline deadline) {
  if (Status status = checkSizes(key, known); !status.ok())
    return status;
  return call(FrameType::Watch, BodyWriter().number(millisecondsLeft(deadline)).text(key).text(known),
              std::max(deadline, Clock::now()) + replyLimit());
}

std::chrono::milliseconds TcpStore::replyLimit() const { return std::clamp(timeout_ / 5, shortestReply, longestReply); }

StatusOr<std::string> TcpStore::call(FrameType type, const BodyWriter &body, Deadline deadline) {
  Pending pending;
  uint64_t number = 0;
  if (Status status = send(type, body, pending, number); !status.ok())
    return status;
  return waitForReply(number, pending, deadline);
}

Status TcpStore::send(FrameType type, const BodyWriter &body, Pending &pending, uint64_t &number) {
  std::lock_guard sending(sending_);
  std::string frame = sealer_.seal(type, body.bytes());
  number = sealer_.counter();
  {
    std::lock_guard lock(mutex_);
    if (!lost_.ok())
      return lost_;
    pending_.emplace(number, &pending);
  }
  Status status = sendAll(socket_->get(), frame, Clock::now() + timeout_);
  if (status.ok())
    return {};
  std::lock_guard lock(mutex_);
  pending_.erase(number);
  return lost(status); // half a frame may be on the wire
}

StatusOr<std::string> TcpStore::waitForReply(uint64_t number, Pending &pending, Deadline deadline) {
  std::unique_lock lock(mutex_);
  while (!pending.done && lost_.ok() && Clock::now() < deadline) {
    if (reading_)
      answered_.wait_until(lock, deadline);
    else
      read(lock, deadline);
  }
  pending_.erase(number);
  if (pending.done)
    return std::move(pending.result);
  if (!lost_.ok())
    return lost_;
  return Status(StatusCode::PeerFailed, "the store at " + name_ + " does not answer");
}

void TcpStore::read(std::unique_lock<std::mutex> &lock, Deadline deadline) {
  reading_ = true;
  lock.unlock();
  Status status = receiveSome(socket_->get(), input_, deadline);
  lock.lock();
  if (status.ok())
    status = takeReplies();
  if (!status.ok())
    (void)lost(status);
  reading_ = false;
  answered_.notify_all();
}

/// With the mutex held.
Status TcpStore::takeReplies() {
  while (true) {
    StatusOr<std::optional<size_t>> size = frameSize(input_, kLongestFrame);
    if (!size.ok())
      return size.status();
    if (!*size || input_.size() < **size)
      return {};
    std::string bytes = input_.substr(0, **size);
    input_.erase(0, **size);
    StatusOr<Frame> frame = opener_.open(bytes);
    if (!frame.ok())
      return frame.status();
    BodyReader body(frame->body);
    auto found = pending_.find(body.number());
    if (found == pending_.end())
      continue; // nobody waits any longer
    Pending &pending = *found->second;
    if (frame->type == FrameType::Reply) {
      pending.result = std::string(body.rest());
    } else {
      auto code = static_cast<StatusCode>(std::clamp<uint64_t>(body.number(1), 1, uint64_t(StatusCode::Internal)));
      pending.result = Status(code, std::string(body.rest()));
    }
    pending.done = true;
  }
}

/// With the mutex held; the first reason stays.
Status TcpStore::lost(const Status &why) {
  if (lost_.ok())
    lost_ = Status(StatusCode::PeerFailed, "lost the store at " + name_ + ": " + why.message());
  answered_.notify_all();
  return lost_;
}

} // namespace dlc::runtime
