#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <vector>

namespace dlc {
class Session;
}

namespace dlc::record {

/// Bytes of tensors and state of a place.
struct PlaceMemory {
  /// In use.
  int64_t allocated = 0;
  /// Taken from the device: in use, waiting to be used again, and scratch of compiled programs.
  int64_t reserved = 0;
  /// The most that was in use.
  int64_t peak = 0;
};

/// A device as the front end uses it: the session of its programs and its memory. Equal devices are one object, which
/// lives to the end of the process.
class Place {
public:
  /// By name: "cpu", "sim:1". Opened at the first call; an Error says in one sentence why there is none.
  static Place &find(const std::string &name, const std::source_location &where);
  /// The memory of the process.
  static Place &host();
  /// How many there are of a kind.
  static int count(const std::string &kind);
  /// All that are open.
  static std::vector<Place *> open();

  const std::string &name() const { return name_; }
  bool isHost() const { return isHost_; }
  /// Whether it has a session.
  bool isUsed() const;
  /// Whether it is the device of this process's first member, for all of them.
  bool isOfJob();
  /// State, threads and compiled programs of this device; the job's where this process is in one.
  Session &session();

  /// Memory of any content, aligned to 64 bytes, on a device taken again from what was released.
  void *allocate(int64_t bytes, const std::source_location &where);
  void release(void *data, int64_t bytes);
  /// Memory of state, which compiled programs know by its name. Zeroed on the host.
  char *makeArena(const std::string &name, int64_t bytes, const std::source_location &where);
  /// No program that knows it will run again.
  void dropArena(const std::string &name, int64_t bytes);
  /// After the host has written state: the process's other members get it too.
  void copyToMembers(const std::string &arena, int64_t offset, int64_t bytes, const std::source_location &where);
  /// Gives back what waits to be used again.
  void releaseUnused();
  PlaceMemory memory();

private:
  struct Device;
  Place(std::string name, bool isHost);
  ~Place();
  void note(int64_t bytes);
  /// Of the process's members beside the first, where this is the job's device.
  std::vector<Session *> otherSessions();
  /// Under the lock; whether anything waited.
  bool dropWaiting();

  std::string name_;
  bool isHost_;
  std::unique_ptr<Device> device_;
  std::mutex lock;
  /// Blocks that wait, by size.
  std::map<int64_t, std::vector<void *>> free;
  std::atomic<int64_t> used{0}, peak{0}, blocksUsed{0}; // the last on the host only
};

/// Copies between two places, either of which may be the host, after the work given to them before. The source may
/// change when this returns; the bytes are there on the host at once, on a device for all work given to it from then
/// on.
void copyBytes(Place &to, void *target, Place &from, const void *source, int64_t bytes,
               const std::source_location &where);

} // namespace dlc::record
