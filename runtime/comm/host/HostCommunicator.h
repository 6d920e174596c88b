#pragma once

#include "comm/host/HostEngine.h"

namespace dlc::runtime {

/// A channel whose operations run one after another on a thread of its own, over an emulated network if options ask.
std::unique_ptr<Communicator> makeHostCommunicator(const Group &group, std::unique_ptr<HostEngine> engine,
                                                   const CommunicatorOptions &options);

/// Where members of one channel meet in the store: "comm/<generation>/<group>/<channel>".
std::string storeKey(const Group &group, int channel, uint64_t generation);

/// PeerFailed, naming these members, when the store's deadline has passed; any other error of the store as it is.
Status missingMembers(const Group &group, const std::vector<int> &ranks, const Status &status);

} // namespace dlc::runtime
