#pragma once

#include "dlc/runtime/Communicator.h"

#include <span>

namespace dlc::runtime {

/// Where a member is, and what its process can use.
struct MemberPlace {
  std::string host; ///< see hostIdentity
  int process = 0;  ///< its id there
  bool mpi = false, gloo = false;
  std::string device = {}; ///< of CUDA, by what is the same in all processes; empty: not there, or no NCCL

  friend bool operator==(const MemberPlace &, const MemberPlace &) = default;
};

/// The engine for members at these places: "nccl" where each has a device of its own, else "inprocess" in one process,
/// "shm" on one host, else "mpi" where mpirun has started a process for each, else "gloo". InvalidInput: none that all
/// have.
StatusOr<std::string> chooseEngine(std::span<const MemberPlace> places);

/// Whether the plug-in of an engine lies beside the runtime; does not load it.
bool hasPlugin(std::string_view engine);

/// "auto": members tell each other their places when a communicator is created, and all choose the same engine.
CommunicatorFactory &autoFactory();

} // namespace dlc::runtime
