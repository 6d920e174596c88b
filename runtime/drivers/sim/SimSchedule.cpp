#include "drivers/sim/SimSchedule.h"

#include <chrono>
#include <thread>

namespace dlc::runtime {

std::shared_ptr<SimSchedule::Queue> SimSchedule::open() {
  std::lock_guard guard(lock);
  return queues.emplace_back(std::make_shared<Queue>());
}

void SimSchedule::close(const std::shared_ptr<Queue> &queue) {
  Guard guard(lock);
  runTo(*queue, queue->given, &guard);
  std::erase(queues, queue);
}

void SimSchedule::submit(const std::shared_ptr<Queue> &queue, Piece piece) {
  std::lock_guard guard(lock);
  queue->waiting.push_back(std::move(piece));
  ++queue->given;
  if (!late)
    runTo(*queue, queue->given, nullptr);
}

SimSchedule::Point SimSchedule::mark(const std::shared_ptr<Queue> &queue) {
  std::lock_guard guard(lock);
  return {queue, queue->given};
}

// Points are marked before they are waited for, so this ends.
bool SimSchedule::runTo(Queue &queue, uint64_t count, Guard *waits) {
  while (queue.done < count)
    if (!runOne(queue, waits))
      return false;
  return true;
}

bool SimSchedule::runOne(Queue &queue, Guard *waits) {
  const uint64_t number = queue.done;
  Piece &first = queue.waiting.front();
  if (Point after = first.after; after.queue && !runTo(*after.queue, after.count, waits))
    return false;
  // Others may have come by while the lock was free.
  if (queue.done != number)
    return true;
  while (first.ready && !first.ready()) {
    if (!waits)
      return false;
    waits->unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    waits->lock();
    if (queue.done != number)
      return true;
  }
  Piece piece = std::move(first);
  queue.waiting.pop_front();
  if (piece.work)
    piece.work();
  ++queue.done;
  return true;
}

void SimSchedule::reach(const Point &point) {
  if (!point.queue)
    return;
  Guard guard(lock);
  runTo(*point.queue, point.count, &guard);
}

bool SimSchedule::approach(const Point &point) {
  if (!point.queue)
    return true;
  std::lock_guard guard(lock);
  if (point.queue->done < point.count)
    runOne(*point.queue, nullptr);
  return point.queue->done >= point.count;
}

void SimSchedule::finish() {
  Guard guard(lock);
  // What waits may let others open or close queues.
  for (const std::shared_ptr<Queue> &queue : std::vector(queues))
    runTo(*queue, queue->given, &guard);
}

} // namespace dlc::runtime
