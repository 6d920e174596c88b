#pragma once

#include "dlc/runtime/Session.h"
#include "dlc/runtime/TensorView.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace dlc {

/// Brings batches to a session's device while its calls run: a thread gathers rows into memory that copies read
/// directly, a stream of its own copies them. One thread at a time may call.
class Prefetch {
public:
  /// Batches are rows of `sources`, arrays on the host that stay as long as this does.
  static StatusOr<std::unique_ptr<Prefetch>> create(Session &session, std::vector<TensorView> sources);
  /// Batches that were begun and not taken are dropped.
  ~Prefetch();

  /// A batch on the device. Its memory may be written again once this is gone and the calls of the session up to then
  /// are done.
  class Batch {
  public:
    /// The rows of source `i`, as calls given from now on see them.
    char *data(size_t i) const;

  private:
    friend class Prefetch;
    std::shared_ptr<void> held; ///< until the last copy of this goes
    std::span<char *const> addresses;
  };

  /// Begins to bring these rows of every source; returns at once.
  void begin(std::vector<int64_t> rows);
  /// The batch that was begun first and not taken yet, with the error it met: a row there is not, no memory, a failed
  /// device. Waits until its rows are gathered, never for the device.
  StatusOr<Batch> take();

private:
  class Line;
  explicit Prefetch(std::shared_ptr<Line> line);
  std::shared_ptr<Line> line; ///< also of batches, which may outlive this
};

} // namespace dlc
