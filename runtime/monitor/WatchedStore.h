#pragma once

#include "dlc/runtime/Store.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>

namespace dlc::runtime {

/// A store whose waits end as soon as the job has failed.
class WatchedStore final : public Store {
public:
  WatchedStore(std::unique_ptr<Store> store, std::function<Status()> failure)
      : store_(std::move(store)), failure_(std::move(failure)) {}

  Status set(std::string_view key, std::string_view value) override { return store_->set(key, value); }
  StatusOr<std::string> get(std::string_view key, Deadline deadline) override {
    return wait(deadline, [&](Deadline end) { return store_->get(key, end); });
  }
  StatusOr<std::string> watch(std::string_view key, std::string_view known, Deadline deadline) override {
    return wait(deadline, [&](Deadline end) { return store_->watch(key, known, end); });
  }
  StatusOr<int64_t> add(std::string_view key, int64_t delta) override { return store_->add(key, delta); }
  StatusOr<std::string> compareSet(std::string_view key, std::string_view expected, std::string_view desired) override {
    return store_->compareSet(key, expected, desired);
  }
  Status setWhenLost(std::string_view key, std::string_view value) override { return store_->setWhenLost(key, value); }

private:
  /// A store that is slow to answer is asked again: whether it is lost, or silent for too long, is the monitor's to
  /// say.
  template <typename Wait>
  StatusOr<std::string> wait(Deadline deadline, Wait wait) {
    while (true) {
      Deadline begin = std::chrono::steady_clock::now();
      Deadline end = std::min(deadline, begin + std::chrono::milliseconds(200));
      StatusOr<std::string> value = wait(end);
      Deadline now = std::chrono::steady_clock::now();
      bool silent = value.status().code() == StatusCode::PeerFailed && now > end + std::chrono::milliseconds(500);
      bool again = (silent || value.status().code() == StatusCode::LimitExceeded) && end < deadline && now < deadline;
      if (!again)
        return value;
      if (Status failure = failure_(); !failure.ok())
        return failure;
    }
  }

  std::unique_ptr<Store> store_;
  std::function<Status()> failure_;
};

} // namespace dlc::runtime
