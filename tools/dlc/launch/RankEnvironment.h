#pragma once

#include "launch/Launch.h"

#include "dlc/runtime/Rendezvous.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::launch {

/// Where the ranks of one generation meet.
struct MeetingPoint {
  std::string host;
  int port = 0;
  std::string secret;
  uint64_t generation = 0;
};

struct RankPlace {
  int rank = 0, worldSize = 1, localRank = 0, localWorldSize = 1;
};

/// Variables of a rank: those of the launcher, `shared` by all ranks of this node, and its place.
runtime::Environment sharedVariables(runtime::Environment base, const Arguments &arguments, const MeetingPoint &point);
void setPlace(runtime::Environment &variables, const RankPlace &place);

/// Threads of each device, of which this node has `ranks` times as many as a rank: at least 1.
int threadShare(int processors, int ranks, const std::string &devices);

/// Processors that this process may use.
int usableProcessors();

/// "NAME=value".
std::vector<std::string> texts(const runtime::Environment &variables);

} // namespace dlc::launch
