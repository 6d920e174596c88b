#pragma once

#include "comm/host/HostCommunicator.h"

#include <array>

#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/unbound_buffer.h>

namespace dlc::runtime {

/// The connections of one channel to all its members; with nobody else there are none.
///
/// Contexts of its own for each channel: a failure closes its connections and no others.
class GlooContext {
public:
  /// A time-out of Gloo's own closes every connection of the context and says nothing of the reason: ours comes first.
  static constexpr std::chrono::milliseconds kNever = std::chrono::hours(24 * 30);

  /// Connects to all members; returns when that is done.
  static StatusOr<std::unique_ptr<GlooContext>> connect(Store &store, const std::string &key, const Group &group,
                                                        Deadline deadline);

  /// For one transfer to or from one member.
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer(int member, bool sends, void *data, size_t bytes) {
    return contexts[size_t(sends == (rank < member))]->createUnboundBuffer(data, bytes);
  }

  /// Closes all connections, which the other members see; from any thread.
  void close() noexcept;

private:
  Status open(const Group &group, Deadline deadline);
  std::string addresses() const;
  Status meet(Store &store, const std::string &key, const Group &group, Deadline deadline);

  int rank = 0, size = 1;
  std::shared_ptr<gloo::transport::Device> device;
  /// Data flows up, from lower to higher ranks, in one context's connections and down in the other's: Gloo's thread
  /// polls without pause while something has arrived on a connection on which another thread is sending.
  std::array<std::shared_ptr<gloo::transport::Context>, 2> contexts;
};

} // namespace dlc::runtime
