#pragma once

#include "dlc/runtime/Status.h"

#include <string>
#include <vector>

namespace dlc::launch {

/// What `dlc launch` was asked for.
struct Arguments {
  std::vector<std::string> program; ///< and its arguments
  int ranks = 1;                    ///< on this node
  int nodes = 1, nodeRank = 0;
  std::string masterHost; ///< where node 0 listens, with several nodes
  int masterPort = 0;
  std::string secretFile;
  int maxRestarts = 0;
  std::string timeout;   ///< seconds; empty: DLC_TIMEOUT, else 300
  double reportTime = 5; ///< seconds that survivors have for their own reports after a failure
  double termTime = 3;   ///< seconds from SIGTERM to SIGKILL
  bool prefix = true;
  std::string engine, devices; ///< empty: as the environment says
  std::string mpiOutput;       ///< of mpirun's ranks alone: where the launcher takes their lines
};

/// Starts the ranks of this node and sees them to their end, restarts included. Returns the exit code: 0, or the first
/// failure's (128 and the signal's number for a signal). Call it from the main thread of a program that has no other
/// children. InvalidInput: the program cannot be started, or the nodes do not fit together; PeerFailed: a node did not
/// come.
StatusOr<int> launch(const Arguments &arguments);

} // namespace dlc::launch
