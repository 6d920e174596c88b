#pragma once

#include "comm/host/HostCommunicator.h"

#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/unbound_buffer.h>

namespace dlc::runtime {

/// The connections of one channel to all its members; with nobody else there are none.
///
/// A context of its own for each channel: a failure closes its connections and no others.
class GlooContext {
public:
  /// A time-out of Gloo's own closes every connection of the context and says nothing of the reason: ours comes first.
  static constexpr std::chrono::milliseconds kNever = std::chrono::hours(24 * 30);

  /// Connects to all members; returns when that is done.
  static StatusOr<std::unique_ptr<GlooContext>> connect(Store &store, const std::string &key, const Group &group,
                                                        Deadline deadline);

  /// For one transfer to or from one member.
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer(void *data, size_t bytes) {
    return context->createUnboundBuffer(data, bytes);
  }

  /// Closes all connections, which the other members see; from any thread.
  void close() noexcept;

private:
  Status open(const Group &group, Deadline deadline);
  std::string addresses() const;
  Status meet(Store &store, const std::string &key, const Group &group, Deadline deadline);

  int rank = 0, size = 1;
  std::shared_ptr<gloo::transport::Device> device;
  std::shared_ptr<gloo::transport::Context> context;
};

} // namespace dlc::runtime
