#pragma once

#include "dlc/runtime/Device.h"
#include "drivers/sim/SimEngine.h"
#include "drivers/sim/SimMemory.h"
#include "drivers/sim/SimSchedule.h"

#include <optional>

namespace dlc::runtime {

/// How simulated devices behave towards the host; SimOptions say how they run kernels.
struct SimDeviceOptions {
  int devices = 8;
  bool late = true;              ///< work waits until somebody waits for it
  std::optional<int64_t> memory; ///< bytes of each; none: the host's

  /// From DLC_SIM_DEVICES, DLC_SIM_STREAM (late, eager) and DLC_SIM_MEMORY (bytes).
  static StatusOr<SimDeviceOptions> fromEnvironment();
};

/// A device that exists only in this process: own memory, own streams, and kernels that run on the host's threads.
class SimDevice : public Device {
public:
  SimDevice(int index, const SimDeviceOptions &options, const SimOptions &kernels);

  std::string description() const override;
  int64_t memoryBytes() const override { return memory_.limit(); }
  std::vector<std::string> compileTargets() const override { return {"sim"}; }
  StatusOr<std::unique_ptr<Stream>> createStream() override;
  StatusOr<std::unique_ptr<Event>> createEvent() override;
  StatusOr<std::unique_ptr<Kernels>> load(std::shared_ptr<const Executable> executable) override;

  // What its streams, events and kernels use.

  const SimMemory &memory() const { return memory_; }
  SimSchedule &schedule() { return schedule_; }
  using Device::check;
  /// Queues work whose failure is the device's; work behind a failure is dropped.
  Status submit(const std::shared_ptr<SimSchedule::Queue> &queue, std::function<Status()> work);

  /// Runs a kernel on the bytes behind its operands; part of such work.
  Status runGrid(const SimKernel &kernel, void *const *operands);

  bool checksAccesses() const { return kernelOptions.check; }
  /// Lets the checks know of memory, where there are checks.
  template <typename Mark>
  void note(Mark mark) {
    if (!checksAccesses())
      return;
    std::lock_guard guard(shadowLock);
    mark(shadow);
  }

protected:
  StatusOr<Block> reserve(std::string_view name, int64_t bytes) override;
  void release(const Block &block) override;

private:
  bool late;
  SimMemory memory_;
  SimOptions kernelOptions;
  std::unique_ptr<SimEngine> engine; ///< with its threads: from the first launch on
  std::mutex shadowLock;
  GlobalShadow shadow;
  SimSchedule schedule_;
};

} // namespace dlc::runtime
