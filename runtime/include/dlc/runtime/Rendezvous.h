#pragma once

#include "dlc/runtime/Store.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace dlc::runtime {

/// Variables of a process's environment.
using Environment = std::map<std::string, std::string, std::less<>>;

/// What a process knows of its job before it has met anyone.
struct Contract {
  std::string origin = "one process"; ///< who told: "the environment", "Open MPI", "Slurm", "Kubernetes"
  std::string rankVariable;           ///< that the rank is from: "SLURM_PROCID"; empty: none
  int rank = 0, worldSize = 1;        ///< processes
  int localRank = 0;                  ///< among the processes of this host
  int localWorldSize = 0;             ///< 0: not told
  std::string masterAddress;          ///< where the store listens: name or number; empty: see `directory`
  int masterPort = 0;
  std::string directory;          ///< of a store in files, for the processes of one host
  std::string secret, secretFile; ///< a file wins
  std::string engine = "auto";    ///< DLC_COMM
  std::string networkInterface;   ///< DLC_IFACE
  std::chrono::milliseconds timeout{300'000};
  uint64_t generation = 0;
  bool externalStore = false; ///< the launcher serves the store, not rank 0
};

/// Of this process.
Environment currentEnvironment();

/// Reads the contract: MASTER_ADDR MASTER_PORT RANK WORLD_SIZE LOCAL_RANK, else Open MPI's variables, Slurm's inside
/// srun, an indexed job's of Kubernetes; the first complete one wins, none is one process alone. MASTER_ADDR and
/// MASTER_PORT go before what a launcher implies; MASTER_ADDR=file:///directory asks for a store in files.
/// InvalidInput: half a contract, with what is missing, or a value out of range.
StatusOr<Contract> detectContract(const Environment &environment);

/// Meets all ranks of the contract and returns the store that they share; one rank alone gets one in memory. Rank 0
/// serves it over TCP unless the store is external: it ends with what rank 0 gets. All ranks fail together, with one
/// reason: InvalidInput if they do not fit together (duplicate rank, other world size, other secret or generation, port
/// in use), PeerFailed with the missing ranks at the contract's limit.
StatusOr<std::unique_ptr<Store>> rendezvous(const Contract &contract);

/// Waits until every rank has come here, so that rank 0 may let go of the store. PeerFailed: those that did not, at the
/// contract's limit.
Status leave(Store &store, const Contract &contract);

} // namespace dlc::runtime
