#pragma once

#include "dlc/runtime/DType.h"
#include "dlc/runtime/Status.h"
#include "dlc/runtime/Store.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

/// Checkpoints of a job: a directory `step-00001200` with a safetensors file of each member and `index.json`, which
/// says what lies where. All members see the same file system.
namespace dlc::runtime {

/// The members that save and load together. All of them make the same calls in the same order, and all get the same
/// error. One member alone needs no store.
struct CheckpointGroup {
  Store *store = nullptr;
  int rank = 0, worldSize = 1;
  uint64_t generation = 0;
  std::chrono::milliseconds timeout{300'000}; ///< of each wait for the others; PeerFailed past it
};

/// A tensor of the job and the box of it that this member has, or wants.
struct CheckpointTensor {
  std::string name, role;
  DType dtype = DType::F32;
  std::vector<int64_t> shape; ///< of the whole tensor
  /// The box: first index and count in each dimension. Both empty: all of it, and then all members have the same
  /// values.
  std::vector<int64_t> start, extent;
};

/// With the box's elements, dense and row-major.
struct CheckpointSource : CheckpointTensor {
  const void *data = nullptr;
};

struct CheckpointOptions {
  /// Further state as JSON texts by name, such as "loader"; those of member 0 are written.
  std::map<std::string, std::string> state;
  /// Axes of the mesh, for readers of the index; empty: "data" with all members.
  std::vector<std::pair<std::string, int64_t>> mesh;
  /// How many complete checkpoints stay, the newest; 0: all.
  int keep = 0;
};

/// Writes the checkpoint `directory/step-…`, and returns when it is complete. Boxes must cover each tensor once; a
/// tensor that all members have is dealt out by bytes and written once. A death at any point leaves the checkpoints
/// before; what it leaves half written is removed by the next save. A directory belongs to one job at a time.
Status saveCheckpoint(const CheckpointGroup &group, const std::string &directory, int64_t step,
                      std::span<const CheckpointSource> tensors, const CheckpointOptions &options = {});

/// Saves beside the program. One thread uses it; until finish() its group does nothing else with checkpoints.
class CheckpointWriter {
public:
  CheckpointWriter(const CheckpointGroup &group, std::string directory);
  /// Waits; an error that nobody has seen goes to standard error.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter &) = delete;
  CheckpointWriter &operator=(const CheckpointWriter &) = delete;

  /// Copies what this member writes, then a thread does the rest; waits for the save before it. That one's error comes
  /// back here, and then nothing is saved.
  Status save(int64_t step, std::span<const CheckpointSource> tensors, const CheckpointOptions &options = {});

  /// Waits for the last save and returns its error, once.
  Status finish();

private:
  CheckpointGroup group;
  std::string directory;
  std::thread thread;
  Status outcome;
};

/// Success if all members have it; else one failure for all. `what` they do, as messages say it.
Status agree(const CheckpointGroup &group, const std::string &what, const Status &mine);

struct CheckpointIndex;

/// A complete checkpoint. Its index is checked in full: coverage without hole or overlap, names, sizes, plain file
/// names; and its files have the sizes that the index says.
class Checkpoint {
public:
  /// The one in that directory, `…/step-00001200`.
  static StatusOr<Checkpoint> open(const CheckpointGroup &group, const std::string &path);
  /// The one `directory/LATEST` names, else that of the highest step; nothing if there is none.
  static StatusOr<std::optional<Checkpoint>> latest(const CheckpointGroup &group, const std::string &directory);

  const std::string &path() const { return path_; }
  int64_t step() const;
  /// CheckpointOptions::state of the save.
  const std::map<std::string, std::string> &state() const;
  /// Whole tensors, by name.
  std::vector<CheckpointTensor> tensors() const;

  /// Elements of one box.
  using Data = std::unique_ptr<std::byte[]>;

  /// The boxes that this member wants, on any number of members. Missing, unexpected and differing names are listed
  /// together; not strict: only names in both are read, and others are null. The files' checksums are verified, dealt
  /// out over the members. Returns when all members have all they want, so that state changes on all or on none.
  StatusOr<std::vector<Data>> read(const CheckpointGroup &group, std::span<const CheckpointTensor> wanted,
                                   bool strict = true) const;

private:
  Checkpoint(std::string path, std::shared_ptr<const CheckpointIndex> index);

  std::string path_;
  std::shared_ptr<const CheckpointIndex> index;
};

} // namespace dlc::runtime
