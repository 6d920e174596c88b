#pragma once

#include "dlc/runtime/Job.h"
#include "job/StreamWatch.h"

#include <memory>
#include <string>
#include <vector>

namespace dlc::runtime {

/// The collectives of one program on one member: what its entries start and wait for. Used by one thread at a time.
class Collectives {
public:
  /// Makes the communicators that the program names; all members do this at once.
  /// `watch` is the stream's, made where it is missing and needed.
  static StatusOr<std::unique_ptr<Collectives>> bind(Job &job, int local, uint32_t program,
                                                     const Executable &executable, Device &device, Stream &stream,
                                                     std::shared_ptr<StreamWatch> &watch);
  ~Collectives();

  /// Before an entry runs.
  void begin(size_t entry);
  /// After it: nothing is under way any more, whatever happened. The failure, if there was one.
  Status end(Status status);

  /// Whether starting and waiting are work of the stream alone, which may be noted in a graph: else what it was given
  /// before must be on its way. Not where a process has several devices, whose graphs could wait for each other.
  bool inGraphs(uint32_t index) const {
    return job.localMembers() == 1 && index < slots.size() && slots[index].onDevice;
  }
  Status start(uint32_t index, const void *from, void *to);
  Status wait(uint32_t index);

  /// From now on what is started and waited for is noted in a graph, not done.
  void note(bool noting) { isNoting = noting; }
  /// A graph with this one was given to the stream.
  void replayed(uint32_t index);

private:
  /// One collective of the manifest.
  struct Slot {
    const CollectiveInfo *info = nullptr;
    Communicator *communicator = nullptr;
    std::string label;            ///< "all_reduce #3 of fc1.weight, fc1.bias (model.cpp:12: dl.matmul)"
    std::unique_ptr<Event> ready; ///< the elements are
    Op op;
    // On the host.
    std::vector<double> in, out; ///< where the device's memory is not the host's
    WorkPtr work;
    void *to = nullptr; ///< device memory
    // On the device.
    DeviceCollectives *onDevice = nullptr;
    std::unique_ptr<Event> done, noted; ///< its end, when it is done, and inside graphs
    bool agreed = false, underWay = false;
  };

  Collectives(Job &job, Progress &progress, uint32_t program, Device &device, Stream &stream)
      : job(job), progress(progress), program(program), device(device), stream(stream) {}

  Status prepare(Slot &slot, int local, const MeshInfo &mesh);
  Status failed(const Slot &slot, const Status &why);
  Status startOnDevice(Slot &slot, const void *from, void *to);
  Status stage(Slot &slot, const void *from);
  StatusOr<WorkPtr> submit(Slot &slot, const Op &op, const void *from, void *to);

  Job &job;
  Progress &progress;
  uint32_t program; ///< its number in the job
  Device &device;
  Stream &stream;
  std::shared_ptr<StreamWatch> watch; ///< where collectives stay on the device
  std::vector<Slot> slots;
  bool isNoting = false;
};

} // namespace dlc::runtime
