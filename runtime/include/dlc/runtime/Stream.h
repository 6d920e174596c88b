#pragma once

#include "dlc/runtime/Status.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace dlc::runtime {

/// A point in a stream's work: where it stood when it last recorded this event. Before that it counts as reached.
class Event {
public:
  virtual ~Event() = default;

  /// Whether the work before the point is done; never waits, and asking often enough gets there.
  virtual StatusOr<bool> query() = 0;

  /// Waits until it is.
  virtual Status synchronize() = 0;
};

/// Work of a stream that was noted instead of done, to be given again and again at the cost of one call.
class Graph {
public:
  virtual ~Graph() = default;
};

/// A queue of work on one device, done in the order it was given; streams of a device are ordered only by events.
///
/// Every call returns once the work is queued (on the cpu it is done by then). Memory that a copy names must stay, and
/// the host's source unchanged, until the stream has passed it. Errors are the caller's mistakes at once, and the
/// device's failure from the first call after it. Any thread may call.
class Stream {
public:
  /// Waits for the work.
  virtual ~Stream() = default;

  virtual Status copyToDevice(void *to, const void *from, int64_t bytes) = 0;
  virtual Status copyToHost(void *to, const void *from, int64_t bytes) = 0;
  /// Inside the device; ranges that overlap only partly are refused.
  virtual Status copy(void *to, const void *from, int64_t bytes) = 0;
  /// From another device, which `there` is of, in the order of both streams. False where devices cannot do this: then
  /// nothing happened.
  virtual StatusOr<bool> copyFrom(Stream & /*there*/, void * /*to*/, const void * /*from*/, int64_t /*bytes*/) {
    return false;
  }
  /// Sets each byte.
  virtual Status fill(void *to, uint8_t value, int64_t bytes) = 0;

  /// Says that nobody reads what is there now: it may be anything afterwards.
  virtual Status discard(void * /*what*/, int64_t /*bytes*/) { return {}; }

  /// Marks this point in `event`, an event of the same device.
  virtual Status record(Event &event) = 0;
  /// Work given from now on starts when the point that `event` marks now is reached.
  virtual Status wait(Event &event) = 0;

  /// Notes what `give` gives to this stream, with its pointers, instead of doing it; null where the device has no
  /// graphs. `give` must not wait for anything; where it does, this fails, and the stream is as before.
  virtual StatusOr<std::unique_ptr<Graph>> capture(const std::function<Status()> & /*give*/) {
    return std::unique_ptr<Graph>();
  }
  /// Gives the work of a graph that a stream of this device captured.
  virtual Status launch(Graph & /*graph*/) { return {StatusCode::InvalidInput, "the device has no graphs"}; }

  /// Waits until all work is done.
  virtual Status synchronize() = 0;
  /// Waits until an event is reached that this stream's work leads to, perhaps through other streams.
  virtual Status waitFor(Event &event) { return event.synchronize(); }

  /// Waits until `reached` holds, or says why it never will.
  using Waiting = std::function<Status(const std::function<StatusOr<bool>()> &reached)>;
  /// Its work needs others than the device from now on, which may fail: who waits for the stream waits this way. No
  /// other thread uses the stream meanwhile. For devices that collectives stay on.
  virtual void waitBy(const Waiting & /*waiting*/) {}
};

} // namespace dlc::runtime
