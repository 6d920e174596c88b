#pragma once

#include "comm/host/History.h"
#include "comm/host/HostCommunicator.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace dlc::runtime {

/// The queue of a channel and the thread that empties it.
class Channel : public std::enable_shared_from_this<Channel> {
public:
  Channel(const Group &group, std::unique_ptr<HostEngine> engine) : group(group), engine_(std::move(engine)) {}

  void start();
  /// Ends the thread; what is not done is aborted. The engine is gone afterwards.
  void stop();

  StatusOr<WorkPtr> submit(Operation operation);
  void abort(const Status &why) noexcept;
  std::vector<OperationRecord> history() const;

  const Group group;
  HostEngine &engine() const { return *engine_; }

private:
  struct Item {
    Operation operation;
    std::chrono::steady_clock::time_point enqueued;
    uint64_t number; ///< in the history
    bool done = false;
    Status status;
  };
  class ItemWork;

  void work();
  Status perform(const Operation &operation);
  Status waitForData(Event &after) const;
  Status wait(Item &item, Deadline deadline);
  bool hearsNews(std::unique_lock<std::mutex> &guard, const Item &item, Deadline deadline);
  Status lateness(const Item &item) const;
  /// Keeps the first failure and tells the engine.
  void fail(const Status &why) noexcept;
  Status failure() const;

  std::unique_ptr<HostEngine> engine_;
  mutable std::mutex lock;
  std::condition_variable queued, finished;
  std::deque<std::shared_ptr<Item>> queue; ///< the first one runs
  History history_;
  Status failure_;
  bool closing = false;
  std::thread thread;
};

} // namespace dlc::runtime
