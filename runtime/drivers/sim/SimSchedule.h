#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace dlc::runtime {

/// The work that waits in the streams of a simulated device. Late: nothing is done before somebody waits for it, and
/// then only what that needs, so that a missing wait shows as old bytes. Eager: everything is done at once.
class SimSchedule {
public:
  using Work = std::function<void()>;

  struct Queue;
  /// After the first `count` pieces of work of a queue; no queue: reached.
  struct Point {
    std::shared_ptr<Queue> queue;
    uint64_t count = 0;
  };
  struct Piece {
    Work work;
    Point after;                 ///< where there is no work: what it waits for
    std::function<bool()> ready; ///< where there is one: asked until it holds, before the work
  };
  struct Queue {
    std::deque<Piece> waiting;
    uint64_t given = 0, done = 0;
  };

  explicit SimSchedule(bool late) : late(late) {}

  std::shared_ptr<Queue> open();
  /// Does its work first.
  void close(const std::shared_ptr<Queue> &queue);

  void submit(const std::shared_ptr<Queue> &queue, Work work) { submit(queue, Piece{std::move(work), {}, {}}); }
  /// Work that waits for something outside of the device's streams; `ready` is quick and calls nothing of this.
  void submit(const std::shared_ptr<Queue> &queue, Work work, std::function<bool()> ready) {
    submit(queue, Piece{std::move(work), {}, std::move(ready)});
  }
  void wait(const std::shared_ptr<Queue> &queue, Point point) { submit(queue, Piece{{}, std::move(point), {}}); }
  Point mark(const std::shared_ptr<Queue> &queue);

  /// Does what has to be done to reach the point.
  void reach(const Point &point);
  /// Does at most one piece of work; whether the point is reached.
  bool approach(const Point &point);
  /// Does all there is.
  void finish();

private:
  void submit(const std::shared_ptr<Queue> &queue, Piece piece);
  /// Whether the first `count` pieces are done; waits for what is not ready, without the lock, or leaves it at that.
  using Guard = std::unique_lock<std::mutex>;
  bool runTo(Queue &queue, uint64_t count, Guard *waits);
  /// Whether the first piece, which was there when this began, is done.
  bool runOne(Queue &queue, Guard *waits);

  bool late;
  std::mutex lock; ///< held while work runs
  std::vector<std::shared_ptr<Queue>> queues;
};

} // namespace dlc::runtime
