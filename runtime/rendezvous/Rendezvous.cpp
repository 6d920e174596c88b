#include "dlc/runtime/Rendezvous.h"

#include "rendezvous/FileStore.h"
#include "rendezvous/Meeting.h"
#include "rendezvous/OpenStore.h"
#include "rendezvous/Secret.h"
#include "rendezvous/TcpStore.h"

#include <algorithm>
#include <utility>

namespace dlc::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFarewell{3};

Status misfit(std::string message) { return {StatusCode::InvalidInput, std::move(message)}; }

StatusOr<TcpStoreOptions> optionsOf(const Contract &contract) {
  StatusOr<std::string> secret = readSecret(contract);
  if (!secret.ok())
    return secret.status();
  TcpStoreOptions options;
  options.address = contract.masterAddress;
  options.port = contract.masterPort;
  options.secret = secret.take();
  options.generation = contract.generation;
  options.rank = contract.rank;
  options.timeout = contract.timeout;
  return options;
}

StatusOr<std::unique_ptr<Store>> openTcp(const Contract &contract) {
  StatusOr<TcpStoreOptions> options = optionsOf(contract);
  if (!options.ok())
    return options.status();
  if (contract.rank != 0 || contract.externalStore)
    return connectStore(*options);
  StatusOr<std::unique_ptr<StoreServer>> server = serveStore(*options);
  if (!server.ok())
    return server.status();
  StatusOr<std::unique_ptr<Store>> store = connectStore(*options);
  if (store.ok())
    static_cast<TcpStore *>(store->get())->keep(server.take());
  return store;
}

StatusOr<std::unique_ptr<Store>> openStore(const Contract &contract) {
  if (contract.worldSize == 1 && !contract.externalStore)
    return createMemoryStore();
  if (!contract.directory.empty())
    return openFileStore(contract.directory, contract.timeout);
  if (contract.masterAddress.empty())
    return misfit(std::to_string(contract.worldSize) + " ranks expect an address to meet at, got none");
  return openTcp(contract);
}

/// Where it is not RANK that was set by hand: " from SLURM_PROCID". Two ranks that are one are looked for there.
std::string numberedBy(const Contract &contract) {
  return contract.rankVariable.empty() || contract.rankVariable == "RANK" ? std::string()
                                                                          : " from " + contract.rankVariable;
}

Status meet(Store &store, const Contract &contract, Deadline deadline) {
  Meeting meeting(store, contract, "start", deadline);
  std::string who = whoIs(contract) + numberedBy(contract);
  if (Status status = meeting.agreeOnWorldSize(who); !status.ok())
    return status;
  if (Status status = meeting.arrive(who); !status.ok())
    return status;
  return meeting.waitForAll("not all ranks came");
}

} // namespace

StatusOr<std::unique_ptr<Store>> rendezvous(const Contract &contract) {
  Deadline deadline = Clock::now() + contract.timeout;
  if (contract.worldSize < 1 || contract.rank < 0 || contract.rank >= contract.worldSize)
    return misfit("rank " + std::to_string(contract.rank) + " is out of range: the job has " +
                  std::to_string(contract.worldSize) + " ranks, from 0");
  StatusOr<std::unique_ptr<Store>> store = openStore(contract);
  if (!store.ok())
    return store;
  Status status = meet(**store, contract, deadline);
  // Ranks that come a little later hear it too, as long as somebody keeps the store.
  if (status.code() == StatusCode::InvalidInput)
    Meeting(**store, contract, "start", std::min(deadline, Clock::now() + kFarewell)).heard();
  return status.ok() ? std::move(store) : status;
}

StatusOr<std::unique_ptr<Store>> connectAgain(const Contract &contract, std::chrono::milliseconds timeout) {
  if (!contract.directory.empty())
    return openFileStore(contract.directory, timeout);
  StatusOr<TcpStoreOptions> options = optionsOf(contract);
  if (!options.ok())
    return options.status();
  options->timeout = contract.timeout;
  options->callTimeout = timeout;
  return connectStore(*options);
}

Status leave(Store &store, const Contract &contract) {
  Meeting meeting(store, contract, "end", Clock::now() + contract.timeout);
  if (Status status = meeting.arrive(whoIs(contract)); !status.ok())
    return status;
  Status status = meeting.waitForAll("not all ranks ended");
  if (status.ok())
    meeting.seenByAll();
  return status;
}

} // namespace dlc::runtime
