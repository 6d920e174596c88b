#pragma once

#include "dlc/runtime/Job.h"

#include <memory>
#include <string>
#include <vector>

namespace dlc::runtime {

/// The collectives of one program on one member: what its entries start and wait for. Used by one thread at a time.
class Collectives {
public:
  /// Makes the communicators that the program names; all members do this at once.
  static StatusOr<std::unique_ptr<Collectives>> bind(Job &job, int local, uint32_t program,
                                                     const Executable &executable, Device &device, Stream &stream);
  ~Collectives();

  /// Before an entry runs.
  void begin(size_t entry);
  /// After it: nothing is under way any more, whatever happened. The failure, if there was one.
  Status end(Status status);

  /// Whether starting and waiting are work of the host: what the stream was given before must be on its way.
  bool onHost(uint32_t /*index*/) const { return true; }
  Status start(uint32_t index, const void *from, void *to);
  Status wait(uint32_t index);

private:
  /// One collective of the manifest.
  struct Slot {
    const CollectiveInfo *info = nullptr;
    Communicator *communicator = nullptr;
    std::string label; ///< "all_reduce #3 of fc1.weight, fc1.bias (model.cpp:12: dl.matmul)"
    std::unique_ptr<Event> copied;
    std::vector<double> in, out; ///< where the device's memory is not the host's
    Op op;
    WorkPtr work;
    void *to = nullptr; ///< device memory
  };

  Collectives(Job &job, Progress &progress, uint32_t program, Device &device, Stream &stream)
      : job(job), progress(progress), program(program), device(device), stream(stream) {}

  Status failed(const Slot &slot, const Status &why);
  Status stage(Slot &slot, const void *from);
  StatusOr<WorkPtr> submit(Slot &slot, const Op &op, const void *from, void *to);

  Job &job;
  Progress &progress;
  uint32_t program; ///< its number in the job
  Device &device;
  Stream &stream;
  std::vector<Slot> slots;
};

} // namespace dlc::runtime
