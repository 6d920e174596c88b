#pragma once

#include "comm/host/HostEngine.h"

#include <atomic>
#include <optional>

namespace dlc::runtime {

/// Carries operations as transfers between two members each: the algorithms are here, the bytes are its subclass's.
/// Before data moves members compare headers, so that a transfer has the same size on both ends.
class TransferEngine : public KindsEngine {
public:
  explicit TransferEngine(const Group &group) : KindsEngine(group), sent(names.size()), received(names.size()) {}

  Status run(const Operation &operation) final;

protected:
  /// Bytes to or from one member.
  struct Move {
    int member;
    bool sends;
    void *data;
    int64_t bytes;
    uint64_t slot = 0; ///< sender and receiver name the same one; see phaseOf
  };
  /// What each member tells each other one before the data of a collective, or of a send, moves.
  struct Header {
    Signature signature;
    int64_t forYou = 0;   ///< AllToAll: elements for the receiver
    uint32_t present = 0; ///< the last to arrive
    uint32_t unused = 0;
  };

  /// Does these moves at once and waits for all; none is of no bytes or to this member itself. When it returns, nobody
  /// uses their memory.
  virtual Status exchange(const std::vector<Move> &moves) = 0;

  /// An all_reduce by the library itself, where that is to be used; members have agreed on the operation.
  virtual std::optional<Status> ownAllReduce(const Operation &) { return std::nullopt; }

  /// A number below 8 for what moves of a slot are: moves of one number between two members come in the same order on
  /// both.
  static unsigned phaseOf(uint64_t slot) { return unsigned(slot >> 63U) * 4 + unsigned(slot & 3U); }
  /// Whether a header has come that is still being waited for.
  static bool hasArrived(const Move &move);

  /// Members that disagree each see it themselves, before the reason goes round: closing connections would keep some
  /// from that.
  bool hasDisagreed() const { return disagreed; }

private:
  Status agree(const Operation &operation);
  Status agreeTransfer(const Operation &operation, uint64_t number);
  Status allReduce(const Operation &operation) final;
  Status reduceScatter(const Operation &operation) final;
  Status allGather(const Operation &operation) final;
  Status broadcast(const Operation &operation) final;
  Status allToAll(const Operation &operation) final;
  Status send(const Operation &operation) final;
  Status receive(const Operation &operation) final;
  Status barrier(const Operation &) final { return {}; }

  /// Leaves out moves of no bytes and those to this member.
  Status move(std::vector<Move> moves);
  /// In slots of the running collective.
  Status move(int phase, std::vector<Move> moves);
  Status disagree(Status status);
  /// Memory for this many bytes until the next call.
  char *scratchFor(int64_t bytes);

  uint64_t collectives = 0;
  std::vector<uint64_t> sent, received; ///< operations between two members
  std::unique_ptr<char[]> scratch;
  int64_t scratchBytes = 0;
  std::atomic<bool> disagreed = false;
};

} // namespace dlc::runtime
