#pragma once

#include "dlc/runtime/Communicator.h"

#include <algorithm>

namespace dlc::runtime {

/// What a member asks of its engine; checked, and plain data.
struct Operation {
  enum class Kind : uint8_t { AllReduce, ReduceScatter, AllGather, Broadcast, AllToAll, Send, Receive, Barrier };

  Kind kind = Kind::Barrier;
  Reduce reduce = Reduce::Sum;
  DType type = DType::F32;
  Op op;
  const void *in = nullptr; ///< equals `out` in AllReduce and Broadcast
  void *out = nullptr;
  /// Elements: of all members together in AllReduce, of one part in ReduceScatter and AllGather, and of `out` in
  /// AllToAll.
  int64_t count = 0;
  int peer = 0;                             ///< root, receiver or sender
  std::vector<int64_t> inCounts, outCounts; ///< AllToAll

  bool isPointToPoint() const { return kind == Kind::Send || kind == Kind::Receive; }
};

/// "all_reduce #7 of executable 3, step 12".
std::string describe(Operation::Kind kind, const CollectiveId &id);

/// What members of a collective must agree on; fits a message of fixed size.
struct Signature {
  CollectiveId id;
  int64_t count = 0;
  int32_t peer = 0;
  Operation::Kind kind = Operation::Kind::Barrier;
  Reduce reduce = Reduce::Sum;
  DType type = DType::F32;
  uint8_t unused = 0;

  friend bool operator==(const Signature &, const Signature &) = default;
};

/// In AllToAll and Barrier members need not have the same count, so it is not part of it.
Signature signatureOf(const Operation &operation);

/// Says how two members' operations differ: "expects the same collective on all members, got all_reduce #7 of
/// executable 3, step 12, 8 x f32 on rank 0 and … on rank 1".
Status differ(const Signature &one, const std::string &oneName, const Signature &other, const std::string &otherName);

/// In AllToAll: one member sends another number of elements than the other one takes.
Status differCounts(const Operation &operation, int64_t sent, const std::string &from, int64_t taken,
                    const std::string &to);

/// Whether a send and the receive it meets agree.
Status checkTransfer(const Signature &send, const std::string &from, const Signature &receive, const std::string &to);

/// Elements [begin, end) of a buffer that is reduced belong to one member.
struct Part {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};
/// Equal parts but for the last ones; borders at multiples of 64 elements, so no two members write to one cache line.
inline Part partOf(int64_t count, int member, int members) {
  int64_t size = ((count + members - 1) / members + 63) / 64 * 64;
  return {std::min(member * size, count), std::min((member + 1) * size, count)};
}

} // namespace dlc::runtime
