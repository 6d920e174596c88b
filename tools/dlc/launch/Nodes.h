#pragma once

#include "launch/Launch.h"
#include "launch/NodeRound.h"
#include "launch/RankEnvironment.h"

#include "dlc/runtime/TcpStore.h"

#include <functional>
#include <memory>
#include <string>

namespace dlc::launch {

/// The launchers of a job, one on each node, as one of them sees them; and where their ranks meet.
class Nodes {
public:
  /// Meets those of the other nodes at node 0, if there are any. InvalidInput: they do not fit together; PeerFailed:
  /// not all came within DLC_TIMEOUT.
  static StatusOr<std::unique_ptr<Nodes>> meet(const Arguments &arguments, const runtime::Environment &base);

  /// Of this node.
  RankPlace place(int localRank) const { return {firstRank_ + localRank, worldSize_, localRank, ranks_}; }

  /// Where the ranks of a generation meet: a store of node 0's, with a port and a secret of its own, until the next
  /// call or the end. `report` is called by its thread. `restartsLeft` becomes what node 0 says.
  StatusOr<MeetingPoint> open(uint64_t generation, int &restartsLeft, std::function<void(const std::string &)> report);
  void close() { server_.reset(); }

  /// Null if there is only this node.
  std::unique_ptr<NodeRound> begin(uint64_t generation);

  /// Waits a little for the others, so that they hear the last news.
  void leave();

private:
  Nodes(const Arguments &arguments, runtime::Contract contract)
      : contract_(std::move(contract)),
        shutDownTime_(static_cast<int64_t>(1000 * (arguments.reportTime + arguments.termTime))),
        ranks_(arguments.ranks), worldSize_(arguments.ranks) {}

  Status join();
  Status placeRanks();
  StatusOr<MeetingPoint> serve(uint64_t generation, std::string &fresh,
                               std::function<void(const std::string &)> report);
  std::string secretOf(const std::string &fresh) const;
  MeetingPoint point(uint64_t generation) const;

  runtime::Contract contract_; ///< in which nodes are the ranks
  std::chrono::milliseconds shutDownTime_;
  int ranks_, firstRank_ = 0, worldSize_;
  std::string secret_;
  std::unique_ptr<runtime::Store> store_; ///< null: one node
  std::unique_ptr<runtime::StoreServer> server_;
};

} // namespace dlc::launch
