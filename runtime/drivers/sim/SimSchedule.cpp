#include "drivers/sim/SimSchedule.h"

namespace dlc::runtime {

std::shared_ptr<SimSchedule::Queue> SimSchedule::open() {
  std::lock_guard guard(lock);
  return queues.emplace_back(std::make_shared<Queue>());
}

void SimSchedule::close(const std::shared_ptr<Queue> &queue) {
  std::lock_guard guard(lock);
  runTo(*queue, queue->given);
  std::erase(queues, queue);
}

void SimSchedule::submit(const std::shared_ptr<Queue> &queue, Piece piece) {
  std::lock_guard guard(lock);
  queue->waiting.push_back(std::move(piece));
  ++queue->given;
  if (!late)
    runTo(*queue, queue->given);
}

SimSchedule::Point SimSchedule::mark(const std::shared_ptr<Queue> &queue) {
  std::lock_guard guard(lock);
  return {queue, queue->given};
}

// Points are marked before they are waited for, so this ends.
void SimSchedule::runTo(Queue &queue, uint64_t count) {
  while (queue.done < count)
    runOne(queue);
}

void SimSchedule::runOne(Queue &queue) {
  Piece piece = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  if (piece.after.queue)
    runTo(*piece.after.queue, piece.after.count);
  if (piece.work)
    piece.work();
  ++queue.done;
}

void SimSchedule::reach(const Point &point) {
  if (!point.queue)
    return;
  std::lock_guard guard(lock);
  runTo(*point.queue, point.count);
}

bool SimSchedule::approach(const Point &point) {
  if (!point.queue)
    return true;
  std::lock_guard guard(lock);
  if (point.queue->done < point.count)
    runOne(*point.queue);
  return point.queue->done >= point.count;
}

void SimSchedule::finish() {
  std::lock_guard guard(lock);
  for (const std::shared_ptr<Queue> &queue : queues)
    runTo(*queue, queue->given);
}

} // namespace dlc::runtime
