#pragma once

#include "comm/gloo/GlooRing.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace dlc::runtime {

/// Carries operations as transfers between two members each; the algorithms are ours.
class GlooEngine final : public HostEngine {
public:
  GlooEngine(const Group &group, std::unique_ptr<GlooContext> connected);
  ~GlooEngine() override;

  std::string_view name() const override { return "gloo"; }
  Status run(const Operation &operation) override;
  void interrupt(const Status &why) noexcept override;
  std::vector<int> awaited() const override;

private:
  /// Bytes to or from one member.
  struct Move {
    int member;
    bool sends;
    void *data;
    int64_t bytes;
    uint64_t slot = 0; ///< sender and receiver name the same one
  };
  struct Transfer;
  /// What each member tells each other one before the data of a collective, or of a send, moves.
  struct Header;

  Status collective(const Operation &operation);
  Status agree(const Operation &operation);
  Status allReduce(const Operation &operation);
  Status reduceScatter(const Operation &operation);
  Status allGather(const Operation &operation);
  Status broadcast(const Operation &operation);
  Status allToAll(const Operation &operation);
  Status send(const Operation &operation);
  Status receive(const Operation &operation);

  /// Does these moves at once and waits for all. Left out are moves of no bytes and those to this member itself.
  Status exchange(const std::vector<Move> &moves);
  /// In slots of the running collective.
  Status exchange(int phase, std::vector<Move> moves);
  /// Waits for one; what Gloo throws is a Status.
  Status complete(Transfer &transfer);
  Status lost(int member, const char *what) const;
  Status disagree(Status status);
  /// Keeps the first reason, ends what runs, tells the ring and closes.
  void end(const Status &reason, const std::string &told) noexcept;

  /// Memory for this many bytes until the next call.
  char *scratchFor(int64_t bytes);
  int size() const { return int(names.size()); }
  const std::string &nameOf(int member) const { return names[size_t(member)]; }

  const std::string groupName;
  const std::vector<std::string> names;
  const int rank;
  std::unique_ptr<GlooContext> context;
  uint64_t collectives = 0;
  std::vector<uint64_t> sent, received; ///< operations between two members
  std::unique_ptr<char[]> scratch;
  int64_t scratchBytes = 0;

  /// Members that disagree each see it themselves; closing would keep some from that.
  std::atomic<bool> disagreed = false;
  mutable std::mutex lock;
  std::vector<Transfer> *active = nullptr; ///< what may have to be ended
  Status why;                              ///< it has ended
  std::condition_variable ended;
  GlooRing ring; ///< calls end, so it is the last to come and the first to go
};

} // namespace dlc::runtime
