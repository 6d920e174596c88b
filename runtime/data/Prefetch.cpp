#include "dlc/runtime/Prefetch.h"

#include "dlc/runtime/Data.h"
#include "dlc/runtime/Profile.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace dlc {

namespace {

// Of each source's part of a batch: enough for any vector access.
constexpr int64_t kAlignment = 256;

/// Memory of one batch, here and on the device.
struct Slot {
  runtime::HostMemory here;
  runtime::Arena there;
  std::unique_ptr<runtime::Event> arrived;  ///< the copy is done
  std::unique_ptr<runtime::Event> released; ///< who used the batch is done
  std::vector<char *> addresses;
  int64_t bytes = 0; ///< of the batch in it
};

} // namespace

class Prefetch::Line : public std::enable_shared_from_this<Line> {
public:
  Line(Session &session, std::vector<TensorView> sources, std::unique_ptr<runtime::Stream> copies)
      : session(session), sources(std::move(sources)), copies(std::move(copies)) {}
  ~Line();

  void start() {
    thread = std::thread([this] { work(); });
  }
  void stop();

  void begin(std::vector<int64_t> rows);
  StatusOr<Batch> take();

private:
  struct Order {
    std::vector<int64_t> rows;
    std::unique_ptr<Slot> slot;
    Status status;
    bool done = false;
  };

  void work();
  Status fill(Order &order);
  StatusOr<std::unique_ptr<Slot>> makeSlot();
  Status place(Slot &slot, int64_t rows);
  void release(std::unique_ptr<Slot> slot);

  Session &session;
  const std::vector<TensorView> sources;
  std::unique_ptr<runtime::Stream> copies;

  std::mutex lock;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Order>> orders; ///< begun and not taken
  std::deque<std::unique_ptr<Slot>> free;    ///< the one released first in front
  bool stopping = false;
  std::thread thread;
};

// What was never taken may still be on its way.
Prefetch::Line::~Line() {
  for (const std::unique_ptr<Slot> &slot : free)
    (void)session.stream().waitFor(*slot->arrived); // a device that failed has let go of the memory
}

void Prefetch::Line::stop() {
  {
    std::lock_guard guard(lock);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
  std::lock_guard guard(lock); // batches may be released meanwhile
  for (const std::shared_ptr<Order> &order : orders)
    if (order->slot)
      free.push_back(std::move(order->slot));
  orders.clear();
}

void Prefetch::Line::begin(std::vector<int64_t> rows) {
  auto order = std::make_shared<Order>();
  order->rows = std::move(rows);
  {
    std::lock_guard guard(lock);
    orders.push_back(std::move(order));
  }
  changed.notify_all();
}

void Prefetch::Line::work() {
  std::unique_lock guard(lock);
  while (true) {
    std::shared_ptr<Order> next;
    changed.wait(guard, [&] {
      next = nullptr;
      for (const auto &order : orders)
        if (!next && !order->done)
          next = order;
      return stopping || next;
    });
    if (stopping)
      return;
    if (!free.empty()) {
      next->slot = std::move(free.front());
      free.pop_front();
    }
    guard.unlock();
    Status status = fill(*next);
    guard.lock();
    next->status = std::move(status);
    next->done = true;
    changed.notify_all();
  }
}

StatusOr<std::unique_ptr<Slot>> Prefetch::Line::makeSlot() {
  auto slot = std::make_unique<Slot>();
  for (std::unique_ptr<runtime::Event> *event : {&slot->arrived, &slot->released}) {
    StatusOr<std::unique_ptr<runtime::Event>> made = session.device().createEvent();
    if (!made.ok())
      return made.status();
    *event = made.take();
  }
  return slot;
}

/// Gives the slot room for so many rows of every source.
Status Prefetch::Line::place(Slot &slot, int64_t rows) {
  int64_t bytes = 0;
  std::vector<int64_t> offsets;
  for (const TensorView &source : sources) {
    std::vector<int64_t> shape = source.shape;
    if (shape.empty())
      return {StatusCode::InvalidInput,
              "expected an array with rows to gather, found " + typeString(source.dtype, shape)};
    shape[0] = rows;
    std::optional<int64_t> part = denseByteSize(source.dtype, shape);
    offsets.push_back(bytes);
    if (!part || __builtin_add_overflow(bytes, (*part + kAlignment - 1) / kAlignment * kAlignment, &bytes))
      return {StatusCode::LimitExceeded, "expected a batch below 2^63 bytes, found " + typeString(source.dtype, shape)};
  }
  slot.bytes = bytes;
  bytes = std::max(bytes, kAlignment);
  if (slot.there.bytes() < bytes) {
    slot.here.reset();
    slot.there = {};
    StatusOr<runtime::HostMemory> here = session.device().allocateHost(bytes);
    StatusOr<runtime::Arena> there = here.ok() ? session.device().allocate("batch", bytes) : here.status();
    if (!there.ok())
      return there.status();
    slot.here = here.take();
    slot.there = there.take();
  }
  slot.addresses.clear();
  for (int64_t offset : offsets)
    slot.addresses.push_back(slot.there.base() + offset);
  return {};
}

Status Prefetch::Line::fill(Order &order) {
  runtime::profile::Span span(runtime::profile::Category::Input, "next batch");
  if (!order.slot) {
    StatusOr<std::unique_ptr<Slot>> made = makeSlot();
    if (!made.ok())
      return made.status();
    order.slot = made.take();
  }
  Slot &slot = *order.slot;
  // Its last copy has to be done with the memory here, and its last readers with the memory there.
  Status status = session.stream().waitFor(*slot.arrived);
  if (status.ok())
    status = place(slot, std::ssize(order.rows));
  for (size_t i = 0; i < sources.size() && status.ok(); ++i)
    status = gatherRows(sources[i], order.rows, slot.here.get() + (slot.addresses[i] - slot.there.base()));
  if (status.ok())
    status = copies->wait(*slot.released);
  if (status.ok())
    status = copies->copyToDevice(slot.there.base(), slot.here.get(), slot.bytes);
  return status.ok() ? copies->record(*slot.arrived) : status;
}

void Prefetch::Line::release(std::unique_ptr<Slot> slot) {
  if (Status status = session.stream().record(*slot->released); !status.ok())
    return; // of no use any more
  std::lock_guard guard(lock);
  free.push_back(std::move(slot));
}

StatusOr<Prefetch::Batch> Prefetch::Line::take() {
  std::shared_ptr<Order> order;
  {
    std::unique_lock guard(lock);
    if (orders.empty())
      return Status(StatusCode::InvalidInput, "no batch was begun");
    order = orders.front();
    changed.wait(guard, [&] { return order->done; });
    orders.pop_front();
  }
  if (!order->status.ok())
    return order->status;
  if (Status status = session.stream().wait(*order->slot->arrived); !status.ok())
    return status;
  Batch batch;
  Slot *slot = order->slot.release();
  batch.addresses = slot->addresses;
  batch.held = std::shared_ptr<void>(
      slot, [line = shared_from_this()](Slot *used) { line->release(std::unique_ptr<Slot>(used)); });
  return batch;
}

char *Prefetch::Batch::data(size_t i) const { return addresses[i]; }

Prefetch::Prefetch(std::shared_ptr<Line> line) : line(std::move(line)) { this->line->start(); }

Prefetch::~Prefetch() { line->stop(); }

StatusOr<std::unique_ptr<Prefetch>> Prefetch::create(Session &session, std::vector<TensorView> sources) {
  StatusOr<std::unique_ptr<runtime::Stream>> copies = session.device().createStream();
  if (!copies.ok())
    return copies.status();
  return std::unique_ptr<Prefetch>(new Prefetch(std::make_shared<Line>(session, std::move(sources), copies.take())));
}

void Prefetch::begin(std::vector<int64_t> rows) { line->begin(std::move(rows)); }

StatusOr<Prefetch::Batch> Prefetch::take() { return line->take(); }

} // namespace dlc
