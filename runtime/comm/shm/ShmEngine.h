#pragma once

#include "comm/host/HostEngine.h"
#include "comm/shm/Meeting.h"

#include <functional>
#include <mutex>

namespace dlc::runtime {

/// Members are processes of one host. Data goes through memory that they share, a piece at a time: each member puts
/// in what others need, all meet, each takes what it needs. A place is used again three pieces later: who writes to it
/// then has met, in between, everybody who read from it.
///
/// Others never touch this member's own memory, so after a failure it is the caller's at once.
class ShmEngine final : public KindsEngine {
public:
  ShmEngine(const Group &group, Meeting met);
  ~ShmEngine() override;

  std::string_view name() const override { return "shm"; }
  Status run(const Operation &operation) override;
  void interrupt(const Status &why) noexcept override;
  std::vector<int> awaited() const override;

  /// For an engine that moves elements its own way: comes to the operation, and waits until its members have and agree.
  Status agree(const Operation &operation);
  /// The members that have not come back from agree on the collective that this one came back from. From any thread.
  std::vector<int> behind() const;
  /// Why the channel has ended, if another member has ended it or is gone; waits for nothing.
  Status look();

private:
  using Reached = std::function<bool(int member)>;

  Status allReduce(const Operation &operation) override;
  Status reduceScatter(const Operation &operation) override;
  Status allGather(const Operation &operation) override;
  Status broadcast(const Operation &operation) override;
  Status allToAll(const Operation &operation) override;
  Status send(const Operation &operation) override;
  Status receive(const Operation &operation) override;
  Status barrier(const Operation &operation) override;

  void begin(const Operation &operation);
  void tellCounts(const Operation &operation);
  /// Of a send or receive: waits for the other end, and compares.
  Status meetPeer(const Operation &operation);
  Status agreeWithPeer(const Operation &operation);
  /// Comes to the next meeting and waits until all have; the first one of a collective shows whether members agree.
  Status meet();
  Status checkAgreement() const;
  Status checkCounts(const Operation &operation) const;
  /// A small one: everybody adds everything.
  Status allReduceAtOnce(const Operation &operation);
  /// A piece of a large one, whose parts members add.
  struct Piece {
    uint64_t number;
    char *data;
    int64_t count, element; ///< in elements; bytes of each
  };
  void putIn(const Piece &piece);
  void addPart(const Operation &operation, const Piece &piece);
  void takeParts(const Piece &piece);

  /// Waits until the members [first, last) have reached something. Whoever is gone will never: that ends the channel.
  Status await(int first, int last, const Reached &reached);
  /// Members that have not; sets `lost` to the end of the channel, if there is one.
  std::vector<int> notThere(int first, int last, const Reached &reached, Status &lost);
  void sleep(uint32_t doorbell) const;
  /// Wakes a member if it sleeps.
  void ring(int member) const;
  void ringAll() const;
  /// Keeps the first reason and tells all members `told`.
  Status end(const Status &reason, const std::string &told) noexcept;
  Status reason() const;

  Segment::Control &control(int member) const { return met.segments[size_t(member)].control(); }
  Segment::Control &mine() const { return control(rank); }
  /// Where a member puts a piece.
  char *place(int member, uint64_t piece) const { return met.segments[size_t(member)].piece(piece); }

  const Meeting met;
  uint64_t stage = 0, collectives = 0;
  uint64_t pieces = 0; ///< of collectives so far: the same on all members
  bool agreed = false; ///< on the running collective
  const Operation *current = nullptr;
  std::vector<uint64_t> sent, received, sentPieces, receivedPieces;

  mutable std::mutex lock;
  std::vector<int> missing;
  Status why;
};

} // namespace dlc::runtime
