#pragma once

#include "dlc/runtime/Job.h"

#include <array>
#include <optional>
#include <set>

namespace dlc::runtime {

class DeviceCollectives;

/// Waits for a member's stream whose collectives stay on the device: nothing else says who is missing, and the stream
/// itself would wait for ever. Any thread.
class StreamWatch {
public:
  /// `job` and `stream` stay.
  static StatusOr<std::shared_ptr<StreamWatch>> make(Job &job, int local, Device &device, Stream &stream);

  /// Asks this too while it waits; it stays as long as the job.
  void add(DeviceCollectives &collectives);

  /// A collective of a program.
  struct Collective {
    uint32_t program = 0, index = 0;
    uint64_t step = 0;
    std::string label;
    Event *done = nullptr; ///< null: nobody knows
    bool isSame(const Collective &o) const { return program == o.program && index == o.index && step == o.step; }
  };
  /// It was put into the stream, after all others; `slot` is where it is from.
  void began(const void *slot, const Collective &collective);
  /// The events of this one go.
  void forget(const void *slot);

  /// Waits until `reached` holds, as it does when the stream has done everything. PeerFailed, after which the stream
  /// comes to its end: the reason of the job.
  Status wait(const std::function<StatusOr<bool>()> &reached);
  /// At the end of a step's work: waits for the one seven steps before, so that a failure is found even where nobody
  /// waits for results.
  Status endStep();

private:
  StreamWatch(Job &job, int local, Stream &stream) : job(job), local(local), stream(stream) {}
  std::optional<Collective> awaited();
  Status look(const Collective &where, Deadline limit);
  /// Done up to this step.
  Status wait(const std::function<StatusOr<bool>()> &reached, uint64_t step);

  struct Entry {
    uint64_t number;
    Collective what;
  };
  Job &job;
  const int local;
  Stream &stream;
  std::mutex lock;
  std::set<DeviceCollectives *> asked;
  std::map<const void *, Entry> begun; ///< the last of each slot
  uint64_t count = 0;
  static constexpr size_t kSteps = 8;
  struct End {
    std::unique_ptr<Event> event;
    uint64_t step = 0;
  };
  std::array<End, kSteps> ends;
  uint64_t steps = 0;
};

/// The job's reason, and where it met this member.
Status failedIn(Job &job, const std::string &label, uint64_t step, const Status &why);

} // namespace dlc::runtime
