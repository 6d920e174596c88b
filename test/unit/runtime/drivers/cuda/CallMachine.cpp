#include "CallMachine.h"

#include "drivers/Driver.h"

#include <cstdlib>

namespace dlc::test {

StatusOr<std::unique_ptr<runtime::Device>> openCallDevice() {
  setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 0);
  StatusOr<int> count = runtime::kCudaDriver.count();
  if (!count.ok())
    return count.status();
  return runtime::kCudaDriver.open(0);
}

KernelInfo callKernel(const LibraryCall &call, const std::vector<Elements> &operands, size_t written,
                      const std::string &name) {
  KernelInfo info;
  info.name = name;
  for (size_t i = 0; i < operands.size(); ++i) {
    Access access = i == written ? Access::Write : Access::Read;
    info.operands.push_back({operands[i].bytes(), int64_t(i) == call.workspace ? Access::Workspace : access});
  }
  info.call = call;
  return info;
}

StatusOr<std::shared_ptr<const Executable>> makeCalls(const std::vector<KernelInfo> &kernels) {
  struct Owned {
    std::string text;
    std::vector<DlcSimKernel> none;
    DlcImage image{};
  };
  static constexpr DlcEntry kEntries[] = {[](const DlcFrame *) -> int32_t { return DLC_OK; }};
  static const DlcSimApi *services = nullptr;
  auto owned = std::make_shared<Owned>();
  Manifest manifest;
  manifest.compiler = "test";
  manifest.cpu = "x86-64-v3";
  manifest.targets = {"sim"};
  manifest.entries = {{"step", {}, {}, 0}};
  manifest.sites = {{"dl.dot_general", "model.cpp", 10, 3}};
  manifest.kernels = kernels;
  owned->text = manifest.toJson();
  owned->none.resize(kernels.size());
  DlcImage &image = owned->image;
  image.abi = DLC_ABI_VERSION;
  image.entryCount = 1;
  image.manifest = owned->text.data();
  image.manifestBytes = owned->text.size();
  image.deviceEntries = kEntries;
  image.simKernels = owned->none.data();
  image.simKernelCount = owned->none.size();
  image.simApi = &services;
  return Executable::fromImage(image, owned);
}

StatusOr<DeviceElements> DeviceElements::make(runtime::Device &device, runtime::Stream &stream,
                                              const Elements &elements) {
  StatusOr<runtime::Arena> arena = device.allocate("operand", elements.bytes());
  if (!arena.ok())
    return arena.status();
  std::vector<char> memory = elements.toBytes();
  Status status = stream.copyToDevice(arena->base(), memory.data(), elements.bytes());
  if (Status waited = stream.synchronize(); status.ok())
    status = waited;
  if (!status.ok())
    return status;
  return DeviceElements(arena.take());
}

Status DeviceElements::fetch(runtime::Stream &stream, Elements &elements) const {
  std::vector<char> memory = elements.toBytes();
  Status status = stream.copyToHost(memory.data(), arena.base(), elements.bytes());
  if (Status waited = stream.synchronize(); status.ok())
    status = waited;
  if (status.ok())
    elements.fromBytes(memory);
  return status;
}

Status runCall(runtime::Device &device, const LibraryCall &call, std::vector<Elements> &operands, size_t written) {
  StatusOr<std::shared_ptr<const Executable>> program = makeCalls({callKernel(call, operands, written)});
  if (!program.ok())
    return program.status();
  StatusOr<std::unique_ptr<runtime::Stream>> stream = device.createStream();
  if (!stream.ok())
    return stream.status();
  std::vector<DeviceElements> memory;
  std::vector<void *> pointers;
  for (const Elements &each : operands) {
    StatusOr<DeviceElements> made = DeviceElements::make(device, **stream, each);
    if (!made.ok())
      return made.status();
    pointers.push_back(made->base());
    memory.push_back(made.take());
  }
  StatusOr<std::unique_ptr<runtime::Kernels>> kernels = device.load(program.take());
  if (!kernels.ok())
    return kernels.status();
  if (Status status = (*kernels)->launch(**stream, 0, pointers.data(), "step"); !status.ok())
    return status;
  return memory[written].fetch(**stream, operands[written]);
}

} // namespace dlc::test
