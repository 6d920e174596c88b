#pragma once

#include "comm/host/Operation.h"

namespace dlc::runtime {

/// What an engine on the host implements: one operation at a time, on the channel's progress thread.
class HostEngine {
public:
  virtual ~HostEngine() = default;

  virtual std::string_view name() const = 0;

  /// Does the operation and returns when it is done. After interrupt it returns soon, and by then nobody uses the
  /// operation's memory, whatever it returns.
  virtual Status run(const Operation &operation) = 0;

  /// From any thread, more than once: the channel has failed. Ends what run waits for and tells the other members.
  virtual void interrupt(const Status &why) noexcept = 0;

  /// The members that the running operation waits for, by rank. From any thread.
  virtual std::vector<int> awaited() const = 0;
};

/// A channel whose operations run one after another on a thread of its own, over an emulated network if options ask.
std::unique_ptr<Communicator> makeHostCommunicator(const Group &group, std::unique_ptr<HostEngine> engine,
                                                   const CommunicatorOptions &options);

/// Where members of one channel meet in the store: "comm/<generation>/<group>/<channel>".
std::string storeKey(const Group &group, int channel, uint64_t generation);

/// PeerFailed, naming these members, when the store's deadline has passed; any other error of the store as it is.
Status missingMembers(const Group &group, const std::vector<int> &ranks, const Status &status);

} // namespace dlc::runtime
