#pragma once

#include "launch/RankEnd.h"

#include "dlc/runtime/Rendezvous.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace dlc::launch {

/// What the launchers of all nodes tell each other while one generation runs: the first failure, once for all, and how
/// their ranks ended. A thread talks to the store, so that the launcher never waits for it.
class NodeRound {
public:
  /// `shutDownTime`: what a node may take to end its ranks.
  NodeRound(runtime::Store &store, const runtime::Contract &contract, uint64_t generation,
            std::chrono::milliseconds shutDownTime);
  ~NodeRound();
  NodeRound(const NodeRound &) = delete;
  NodeRound &operator=(const NodeRound &) = delete;

  /// Of the store: has a value when that node's launcher is gone.
  static std::string goneKey(int node) { return "launch/gone/" + std::to_string(node); }

  /// Readable when failure() or allEnded() may have changed.
  int descriptor() const { return event_; }

  /// Of a rank of this node, or of the node.
  void fail(const Failure &failure);
  /// No process of this node is left.
  void end(const std::vector<RankEnd> &ends, bool interrupted);

  /// The job's failure, on whatever node, as far as known; final when all have ended.
  std::optional<Failure> failure();
  /// All nodes have ended, or those that have not are lost.
  bool allEnded();

  /// When all have ended: of all nodes.
  const std::vector<RankEnd> &ends() const { return allEnds_; }
  bool interrupted() const { return interrupted_; }
  /// A node is lost, so there is no other generation.
  bool lostNode() const { return lostNode_; }

private:
  std::string key(const std::string &name) const { return prefix_ + name; }
  void work();
  Status exchangeOrWait();
  Status exchange();
  Status sendFailure();
  Status sendEnds();
  Status lookForFailure();
  Status lookForEnds();
  Status beat();
  Status watch(int node);
  void learn(const Failure &failure);
  std::chrono::milliseconds silence() const; ///< after it a node is lost
  void loseNode(const std::string &what);
  void wake() const;

  runtime::Store &store_;
  const runtime::Contract &contract_;
  std::chrono::milliseconds shutDownTime_;
  std::string prefix_;
  int event_;

  std::mutex mutex_; ///< of what follows
  std::condition_variable changed_;
  bool stopping_ = false;
  std::optional<Failure> posted_, agreed_;
  std::optional<std::string> endText_;
  bool allEnded_ = false;

  // The thread's own, and everybody's once all have ended.
  bool sentEnds_ = false, interrupted_ = false, lostNode_ = false;
  std::vector<RankEnd> allEnds_;
  struct Beat {
    std::string value;
    runtime::Deadline since;
    bool lost = false;
  };
  std::vector<Beat> beats_; ///< of the nodes, at node 0
  runtime::Deadline nextBeat_{}, failedAt_{}, answered_;
  std::thread thread_;
};

} // namespace dlc::launch
