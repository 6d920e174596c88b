#pragma once

#include "comm/host/HostEngine.h"

namespace dlc::runtime {

/// A channel whose operations run one after another on a thread of its own, over an emulated network if options ask.
std::unique_ptr<Communicator> makeHostCommunicator(const Group &group, std::unique_ptr<HostEngine> engine,
                                                   const CommunicatorOptions &options);

/// Where members of one channel meet in the store: "comm/<generation>/<group>/<channel>".
std::string storeKey(const Group &group, int channel, uint64_t generation);

/// Tells the others this member's text under `key` and its rank, and returns all members'; waits for them. The store's
/// waits end with the job, an engine's own need not: so members meet here first. PeerFailed, naming those who did not
/// come, past the deadline.
StatusOr<std::vector<std::string>> exchange(Store &store, const std::string &key, const Group &group,
                                            std::string_view text, Deadline deadline);

/// PeerFailed, naming these members, when the store's deadline has passed; any other error of the store as it is.
Status missingMembers(const Group &group, const std::vector<int> &ranks, const Status &status);

} // namespace dlc::runtime
