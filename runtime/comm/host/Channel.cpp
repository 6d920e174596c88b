#include "comm/host/Channel.h"

#include "comm/host/ShortSlices.h"
#include "dlc/runtime/Profile.h"
#include "dlc/runtime/Stream.h"

#include <csignal>
#include <cstdio>

namespace dlc::runtime {

class Channel::ItemWork final : public Work {
public:
  ItemWork(std::shared_ptr<Channel> channel, std::shared_ptr<Item> item)
      : channel(std::move(channel)), item(std::move(item)) {}

  ~ItemWork() override {
    if (done())
      return;
    channel->abort({StatusCode::PeerFailed,
                    describe(item->operation.kind, item->operation.op.id) + " was dropped before it was done"});
    (void)channel->wait(*item, Deadline::max());
  }

  Status wait(Deadline deadline) override { return channel->wait(*item, deadline); }

  bool done() const override {
    std::lock_guard guard(channel->lock);
    return item->done;
  }

private:
  std::shared_ptr<Channel> channel;
  std::shared_ptr<Item> item;
};

void Channel::start() {
  thread = std::thread([this] { work(); });
}

void Channel::stop() {
  {
    std::lock_guard guard(lock);
    closing = true;
    queued.notify_all();
    if (!queue.empty() && failure_.ok())
      failure_ = {StatusCode::PeerFailed, "the communicator of group '" + group.name + "' was destroyed"};
  }
  if (Status why = failure(); !why.ok())
    engine_->interrupt(why);
  thread.join();
  engine_.reset();
}

StatusOr<WorkPtr> Channel::submit(Operation operation) {
  auto item = std::make_shared<Item>(Item{std::move(operation), std::chrono::steady_clock::now(), 0, false, {}});
  std::lock_guard guard(lock);
  if (!failure_.ok())
    return failure_;
  item->number = history_.add(item->operation, item->enqueued);
  queue.push_back(item);
  queued.notify_all();
  return WorkPtr(std::make_unique<ItemWork>(shared_from_this(), std::move(item)));
}

void Channel::abort(const Status &why) noexcept { fail(why.ok() ? Status(StatusCode::PeerFailed, "aborted") : why); }

std::vector<OperationRecord> Channel::history() const {
  std::lock_guard guard(lock);
  return history_.list();
}

void Channel::fail(const Status &why) noexcept {
  {
    std::lock_guard guard(lock);
    if (!failure_.ok())
      return;
    failure_ = why;
  }
  engine_->interrupt(why);
}

Status Channel::failure() const {
  std::lock_guard guard(lock);
  return failure_;
}

void Channel::work() {
  // Engines that write to sockets must not end the program with a peer; the mask is this thread's alone.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  ShortSlices prompt;
  std::unique_lock guard(lock);
  while (true) {
    queued.wait(guard, [&] { return closing || !queue.empty(); });
    if (queue.empty())
      return;
    std::shared_ptr<Item> item = queue.front();
    Status status = failure_;
    history_.start(item->number);
    guard.unlock();
    if (status.ok())
      status = perform(item->operation);
    if (!status.ok())
      fail(status);
    guard.lock();
    // The first failure is everybody's; an operation that was done before it keeps its success.
    item->status = status.ok() ? status : failure_;
    item->done = true;
    history_.end(item->number, item->status.ok());
    queue.pop_front();
    finished.notify_all();
  }
}

Status Channel::perform(const Operation &operation) {
  if (operation.op.after)
    if (Status status = waitForData(*operation.op.after); !status.ok())
      return status.withContext(describe(operation.kind, operation.op.id));
  if (!profile::on())
    return engine_->run(operation);
  int64_t begin = profile::now();
  Status status = engine_->run(operation);
  std::string name(operation.op.label);
  profile::record(profile::Category::Communication, name.empty() ? describe(operation.kind, operation.op.id) : name,
                  begin, profile::now(),
                  profile::track(group.members[size_t(group.rank)] + ", " + group.name + ", channel " +
                                 std::to_string(group.channel)));
  return status;
}

// By asking: an abort must end it even when the device never gets there.
Status Channel::waitForData(Event &after) const {
  for (auto pause = std::chrono::microseconds(1);; pause = std::min(2 * pause, std::chrono::microseconds(200))) {
    StatusOr<bool> reached = after.query();
    if (!reached.ok() || *reached)
      return reached.status();
    if (Status status = failure(); !status.ok())
      return status;
    std::this_thread::sleep_for(pause);
  }
}

Status Channel::wait(Item &item, Deadline deadline) {
  std::unique_lock guard(lock);
  auto done = [&] { return item.done; };
  // A wait until the end of time overflows in some libraries.
  if (deadline == Deadline::max())
    finished.wait(guard, done);
  else if (!finished.wait_until(guard, deadline, done) && !hearsNews(guard, item, deadline)) {
    guard.unlock();
    fail(lateness(item));
    guard.lock();
    finished.wait(guard, done);
  }
  return item.status;
}

// Whoever wakes long after its limit was stopped, and the others may have given up on it: their reason is the first.
bool Channel::hearsNews(std::unique_lock<std::mutex> &guard, const Item &item, Deadline deadline) {
  constexpr std::chrono::milliseconds kStopped{50}, kNews{200};
  return std::chrono::steady_clock::now() - deadline > kStopped &&
         finished.wait_for(guard, kNews, [&] { return item.done; });
}

Status Channel::lateness(const Item &item) const {
  std::vector<int> awaited = engine_->awaited();
  std::unique_lock guard(lock);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f",
                std::chrono::duration<double>(std::chrono::steady_clock::now() - item.enqueued).count());
  std::string message = describe(item.operation.kind, item.operation.op.id) + " in group '" + group.name +
                        "' is not done after " + seconds + " s, its limit";
  if (!queue.empty() && queue.front().get() != &item)
    message += "; " + describe(queue.front()->operation.kind, queue.front()->operation.op.id) + " before it";
  if (!awaited.empty())
    message += "; waiting for ";
  for (size_t i = 0; i < awaited.size(); ++i)
    message += (i ? ", " : "") + group.members[size_t(awaited[i])];
  return {StatusCode::PeerFailed, std::move(message)};
}

} // namespace dlc::runtime
