#pragma once

#include "dlc/runtime/DType.h"
#include "dlc/runtime/Status.h"
#include "dlc/runtime/Store.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

class DeviceCollectives;
class Event;

/// Which collective of which executable, in which step; messages show it and members must agree on it.
struct CollectiveId {
  uint32_t executable = 0, index = 0;
  uint64_t step = 0;

  friend bool operator==(const CollectiveId &, const CollectiveId &) = default;
};

/// What every operation is started with.
struct Op {
  CollectiveId id;
  /// The data is there when this event is reached; null: it is there now. Must live until the operation is done.
  Event *after = nullptr;
  /// What traces call it; must live as long.
  std::string_view label = {};
};

/// How elements of different members become one. Sum wraps for integers; there is none for i1. Max and Min give NaN if
/// any member has one; -0 is below +0.
enum class Reduce : uint8_t { Sum, Max, Min };

/// Elements in the host's memory, which must stay until the operation is done.
struct Elements {
  void *data = nullptr;
  int64_t count = 0;
  DType type = DType::F32;
};

/// An operation that was started. Any one thread at a time.
class Work {
public:
  /// Aborts the communicator if the operation is not done: it never goes on unwatched.
  virtual ~Work() = default;

  /// Waits until the operation is done: then results are there and memory is the caller's again. Past the deadline it
  /// aborts the communicator and returns PeerFailed, naming the operation and the members it waits for.
  virtual Status wait(Deadline deadline) = 0;

  /// Whether wait would return at once; never waits.
  virtual bool done() const = 0;
};
using WorkPtr = std::unique_ptr<Work>;

/// One of the last operations of a communicator, for reports.
struct OperationRecord {
  uint64_t number = 0; ///< in the order of starts on this communicator, from 0
  std::string name;    ///< "all_reduce #7 of executable 3, step 12"
  std::string label;   ///< of its Op
  CollectiveId id;
  int64_t count = 0; ///< of elements, of all members together in all_reduce, else of one part
  DType type = DType::F32;
  /// When it was asked for, was begun and ended; nothing of that where it has not happened yet.
  std::optional<std::chrono::steady_clock::time_point> enqueued, started, done;
  bool failed = false;
};

/// One member's end of one channel of a group. All members start the same collectives in the same order, from one
/// thread at a time; they run asynchronously in that order.
///
/// Counts are in elements and may be 0. Elements may be used in place where an operation says so; other overlaps are
/// refused. A wrong argument is InvalidInput at once and changes nothing. Any later error, different operations on
/// members included, is the end of the group: every operation returns the first error from then on, what results hold
/// is undefined, and all that is left is to destroy it, or to create it again in a new generation.
class Communicator {
public:
  /// Aborts what is not done; no wait may be running.
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Name of the engine that carries it: "inprocess".
  virtual std::string_view engine() const = 0;

  /// Every member gets the reduction of all members' elements.
  virtual StatusOr<WorkPtr> allReduce(const Op &op, Elements inOut, Reduce reduce) = 0;
  /// Member r gets part r of the reduction; `in` has size() parts of `out`'s count. In place: out is part r of in; what
  /// the other parts then hold is undefined.
  virtual StatusOr<WorkPtr> reduceScatter(const Op &op, Elements in, Elements out, Reduce reduce) = 0;
  /// Every member gets all parts, in order of ranks. In place: in is part r of out.
  virtual StatusOr<WorkPtr> allGather(const Op &op, Elements in, Elements out) = 0;
  /// Every member gets what `root` has.
  virtual StatusOr<WorkPtr> broadcast(const Op &op, Elements inOut, int root) = 0;
  /// Sends inCounts[m] elements to each member m and gets outCounts[m] from it, both in order of ranks.
  virtual StatusOr<WorkPtr> allToAll(const Op &op, Elements in, Elements out, std::span<const int64_t> inCounts,
                                     std::span<const int64_t> outCounts) = 0;
  /// To one other member; not done before that one receives. Two members that both send first wait for each other.
  virtual StatusOr<WorkPtr> send(const Op &op, Elements in, int to) = 0;
  virtual StatusOr<WorkPtr> receive(const Op &op, Elements out, int from) = 0;
  /// Done when all members have started it.
  virtual StatusOr<WorkPtr> barrier(const Op &op) = 0;

  /// From any thread, at any time: every wait of this member returns `why` within 1 s, and the others' fail as soon as
  /// the engine lets them know.
  virtual void abort(Status why) noexcept = 0;

  /// The last 64 operations, oldest first. From any thread.
  virtual std::vector<OperationRecord> history() const = 0;

  /// For collectives that never leave the device; null: this engine works on the host. Operations of both ways must not
  /// be under way at once.
  virtual DeviceCollectives *onDevice() { return nullptr; }
};

/// Who takes part; the same on all members but for `rank`.
struct Group {
  std::string name;                 ///< one word, unlike that of other groups of the job: "data"
  int rank = 0;                     ///< this member's place in `members`
  std::vector<std::string> members; ///< what messages call each: "rank 2 (host b)"
  int channel = 0;                  ///< set by create, for traces
  std::string device = {};          ///< where its elements are: "cuda:1"; empty: on the host. "nccl" needs it
};

/// A network that measurements and tests pretend to have: an operation counts as done only at its start + latency +
/// bytes / bandwidth, with the bytes that each member sends in a ring: 2 (N - 1) / N of its size for all_reduce. The
/// operations of a channel follow one another.
struct EmulatedNetwork {
  double latencySeconds = 0;
  double bytesPerSecond = 0; ///< 0: without limit
};

/// "latency_us=50,gbps=1" (either may be missing; 1 gbps is 10^9 bits a second), as in the variable DLC_COMM_EMULATE.
StatusOr<EmulatedNetwork> parseEmulatedNetwork(std::string_view text);

/// How a communicator works; the same on all members.
struct CommunicatorOptions {
  /// Sums are the fixed balanced tree over member numbers on every engine. Otherwise an engine may add in its own
  /// order: all members still get the same bits, other engines and other numbers of members may not.
  bool fixedOrder = false;
  /// None: as DLC_COMM_EMULATE says, and that is usually nothing.
  std::optional<EmulatedNetwork> network;
};

/// Makes an engine's communicators. Any thread may call.
class CommunicatorFactory {
public:
  /// The engine of that name: "inprocess", "shm", "nccl" between CUDA devices of one host, or a plug-in
  /// `libdlc_comm_<name>.so` that lies beside the runtime, such as "gloo" and "mpi". "auto": members on CUDA devices of
  /// one host, each on its own, use "nccl" where it is installed; else those in one process "inprocess", on one host
  /// "shm", else "mpi" where mpirun has started them, else "gloo". DLC_COMM_REMARKS=1 says which. InvalidInput when
  /// there is none here.
  static StatusOr<CommunicatorFactory *> open(std::string_view engine);

  virtual ~CommunicatorFactory() = default;

  /// This member's end of one channel; returns when all members are there. Every (group, channel, generation) of a
  /// store is created once. PeerFailed, with the missing members, past the deadline.
  StatusOr<std::unique_ptr<Communicator>> create(Store &store, const Group &group, int channel, uint64_t generation,
                                                 Deadline deadline, const CommunicatorOptions &options = {});

protected:
  /// What an engine implements; group and options have been checked.
  virtual StatusOr<std::unique_ptr<Communicator>> make(Store &store, const Group &group, int channel,
                                                       uint64_t generation, Deadline deadline,
                                                       const CommunicatorOptions &options) = 0;
};

} // namespace dlc::runtime
