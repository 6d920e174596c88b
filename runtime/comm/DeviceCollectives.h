#pragma once

#include "dlc/runtime/Communicator.h"
#include "dlc/runtime/Manifest.h"

namespace dlc::runtime {

class Stream;

/// Collectives of compiled programs on the memory of a member's device, in the order of a stream: no copy to the host,
/// and nobody waits there. Calls as those of a Communicator: by one thread at a time, in the same order on all members.
class DeviceCollectives {
public:
  virtual ~DeviceCollectives() = default;

  /// One of them, with counts as CollectiveInfo's and addresses of the device.
  struct Call {
    CollectiveKind kind = CollectiveKind::AllReduce;
    Reduce reduce = Reduce::Sum;
    DType type = DType::F32;
    int64_t count = 0;
    const void *from = nullptr;
    void *to = nullptr;
  };

  /// Where they are done: makes it wait for the elements, and marks the end.
  virtual Stream &stream() = 0;

  /// Waits until all members have come to this one and mean the same.
  virtual Status agree(const Op &op, const Call &call) = 0;
  /// Puts one into the stream.
  virtual Status enqueue(const Op &op, const Call &call) = 0;

  /// For reports: it is in the stream. `later`: not by itself or not yet, so that only `passed` knows when it is done.
  virtual void note(const Op &op, const Call &call, bool later) = 0;
  /// All of this step and those before are done.
  virtual void passed(uint64_t step) = 0;
  /// The last 64 that were noted, oldest first.
  virtual std::vector<OperationRecord> history() = 0;

  /// Why what is in the stream will never be done, if it will not; waits for nothing. From any thread. Whoever waits
  /// for the stream asks this by turns and, after a failure, aborts the communicator: then the stream comes to its end.
  virtual Status look() = 0;
};

/// Whether a device's library gives exactly what engines on the host give, but for the order of a sum where that is
/// free. Not so: sums of 16-bit floats, which it rounds more than once, and the largest and smallest of floats, where
/// it may lose a NaN.
inline bool staysOnDevice(CollectiveKind kind, Reduce reduce, DType type, bool fixedOrder) {
  return !reduces(kind) || !isFloat(type) || (!fixedOrder && reduce == Reduce::Sum && byteSize(type) >= 4);
}

} // namespace dlc::runtime
