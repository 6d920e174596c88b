#pragma once

#include "dlc/runtime/Communicator.h"
#include "dlc/runtime/Rendezvous.h"

#include <string>
#include <vector>

namespace dlc::runtime {

/// What one member last did on one channel of a group.
struct ChannelRecord {
  std::string member; ///< "rank 2 (host b, cpu:1)"; empty where the process has one
  std::string group;
  int channel = 0;
  std::string engine;
  std::vector<OperationRecord> operations;
};

/// For the end of a failure's message, in lines of their own: what this process was in the middle of on each channel.
/// Where DLC_FLIGHT_RECORDER names a directory, all that is known of the last operations goes there too, as
/// `rank<r>.json` (`rank<r>.generation<g>.json` after a restart), and the message names the file.
std::string reportChannels(const Contract &contract, const std::vector<ChannelRecord> &channels, const Status &why);

} // namespace dlc::runtime
