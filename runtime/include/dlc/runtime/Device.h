#pragma once

#include "dlc/runtime/Arena.h"
#include "dlc/runtime/DeviceId.h"
#include "dlc/runtime/Status.h"
#include "dlc/runtime/Stream.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace dlc {
class Executable;
}

/// What drivers implement. Names of its own: programs may use the front end's Device beside it.
namespace dlc::runtime {

/// Bytes of a device's memory.
struct MemoryStats {
  int64_t allocated = 0; ///< asked for by the arenas there are
  int64_t reserved = 0;  ///< what those take, rounded up by the device
  int64_t peak = 0;      ///< the most `allocated` has been
  int64_t count = 0;     ///< arenas there are
};

/// Memory of the host that copies of a device read and write directly: page-locked where the device asks for that.
/// Aligned to 64 bytes; the copies that name it must be done when it goes.
using HostMemory = std::unique_ptr<char[], std::function<void(char *)>>;

/// The kernels of an executable on a device, ready to start; keeps the executable alive.
class Kernels {
public:
  virtual ~Kernels() = default;

  /// Puts a kernel, by index of the manifest's "kernels", into a stream of the device. `pointers` are its operands in
  /// device memory, read before this returns; messages say that `entry` started it.
  virtual Status launch(Stream &stream, uint32_t kernel, void *const *pointers, std::string_view entry) = 0;
};

/// One device of this machine: its memory, its queues of work, its code. Any thread may call.
class Device {
public:
  /// The device of that name, made at the first call and kept to the program's end.
  static StatusOr<Device *> open(const DeviceId &id);

  /// What there is of one kind.
  struct Kind {
    std::string name;
    int count = 0;
    std::string why;     ///< why there is none, one sentence
    bool ofHost = false; ///< every process of the host sees the same ones
  };
  static std::vector<Kind> kinds();

  virtual ~Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceId &id() const { return id_; }
  /// What it is, for people: "2 processors, AMD EPYC".
  virtual std::string description() const = 0;
  /// Bytes of memory it has in all, for any use.
  virtual int64_t memoryBytes() const = 0;
  /// True of the cpu alone: its memory is the host's, and entries run on the calling thread.
  bool isHost() const { return host; }
  /// What to compile for, as in `dlc compile --target`, so that this device can run it.
  virtual std::vector<std::string> compileTargets() const = 0;
  /// The vendor's libraries that programs for it may call, by the names of LibraryCall::library.
  virtual std::vector<std::string> libraries() const { return {}; }

  /// Memory of any content, zeroed on the cpu; `name` says in messages what it is for. LimitExceeded when there is not
  /// enough.
  StatusOr<Arena> allocate(std::string_view name, int64_t bytes);
  MemoryStats memoryStats() const;
  /// For at least one byte; of any content. LimitExceeded when there is not enough.
  virtual StatusOr<HostMemory> allocateHost(int64_t bytes);

  virtual StatusOr<std::unique_ptr<Stream>> createStream() = 0;
  virtual StatusOr<std::unique_ptr<Event>> createEvent() = 0;

  /// Makes an executable's kernels ready; refused in one sentence when it was not compiled for this device.
  virtual StatusOr<std::unique_ptr<Kernels>> load(std::shared_ptr<const Executable> executable) = 0;

  /// The first failure of a kernel: every call returns it from then on, for what memory holds is undefined.
  Status failure() const;
  /// Forgets the failure. Refused while arenas exist; streams, events and kernels made before must be gone too.
  Status reset();

protected:
  explicit Device(DeviceId id, bool host = false) : id_(std::move(id)), host(host) {}

  struct Block {
    char *base = nullptr;
    int64_t reserved = 0;
  };
  /// Memory for at least one byte.
  virtual StatusOr<Block> reserve(std::string_view name, int64_t bytes) = 0;
  /// Waits for the device's work, then gives the memory back.
  virtual void release(const Block &block) = 0;
  /// Makes the device itself usable after a failure; nothing of it is in use.
  virtual Status restart() { return {}; }

  /// Records the first failure; returns that one.
  Status fail(Status status);
  /// At the start of every call: a device without failures costs one load.
  Status check() const { return failed.load(std::memory_order_acquire) ? failure() : Status(); }

private:
  friend class Arena;
  void free(const Arena &arena);

  DeviceId id_;
  bool host;
  mutable std::mutex lock;
  MemoryStats stats;
  Status failure_;
  std::atomic<bool> failed{false};
};

} // namespace dlc::runtime
