#pragma once

#include "Elements.h"

#include "dlc/runtime/Device.h"
#include "dlc/runtime/Executable.h"

namespace dlc::test {

/// cuda:0 of test/fakegpu, or a GPU with DLC_GPU_LIBRARY set to nothing.
StatusOr<std::unique_ptr<runtime::Device>> openCallDevice();

/// A kernel that is this call, with operands of these types and sizes, of which it writes one.
KernelInfo callKernel(const LibraryCall &call, const std::vector<Elements> &operands, size_t written,
                      const std::string &name = "k0");

/// A program of nothing but calls of libraries, all at "model.cpp:10: dl.dot_general".
StatusOr<std::shared_ptr<const Executable>> makeCalls(const std::vector<KernelInfo> &kernels);

/// Memory of the device with elements in it.
class DeviceElements {
public:
  static StatusOr<DeviceElements> make(runtime::Device &device, runtime::Stream &stream, const Elements &elements);
  /// Waits for the stream.
  Status fetch(runtime::Stream &stream, Elements &elements) const;
  void *base() const { return arena.base(); }

private:
  explicit DeviceElements(runtime::Arena arena) : arena(std::move(arena)) {}
  runtime::Arena arena;
};

/// Loads the call, runs it once over the operands as an entry named "step", and brings the one that is written back
/// into its place. All that was made is gone afterwards.
Status runCall(runtime::Device &device, const LibraryCall &call, std::vector<Elements> &operands, size_t written);

} // namespace dlc::test
