#include "dlc/runtime/Executable.h"
#include "drivers/sim/SimServices.h"
#include "drivers/sim/SimStream.h"

#include <algorithm>
#include <atomic>

namespace dlc::runtime {

namespace {

std::array<uint32_t, 3> narrow(const std::array<int64_t, 3> &shape) {
  return {uint32_t(shape[0]), uint32_t(shape[1]), uint32_t(shape[2])};
}

SimKernel describe(const KernelInfo &info, DlcSimKernel function) {
  SimKernel kernel{info.name, function, narrow(info.grid), narrow(info.block), {}};
  for (const KernelInfo::Operand &operand : info.operands)
    kernel.operands.push_back({operand.bytes, SimAccess(operand.access)});
  return kernel;
}

static_assert(int(SimAccess::Read) == int(Access::Read) && int(SimAccess::Write) == int(Access::Write) &&
              int(SimAccess::ReadWrite) == int(Access::ReadWrite) &&
              int(SimAccess::Workspace) == int(Access::Workspace));

/// Work that waits keeps it alive.
struct Loaded {
  std::shared_ptr<const Executable> executable;
  std::vector<SimKernel> kernels;
};

class SimKernels : public Kernels {
public:
  SimKernels(SimDevice &device, std::shared_ptr<const Loaded> loaded) : device(device), loaded(std::move(loaded)) {}

  Status launch(Stream &stream, uint32_t index, void *const *pointers, std::string_view entry) override;

private:
  SimDevice &device;
  std::shared_ptr<const Loaded> loaded;
};

Status SimKernels::launch(Stream &stream, uint32_t index, void *const *pointers, std::string_view entry) {
  auto *queue = dynamic_cast<SimStream *>(&stream);
  if (!queue || !queue->belongsTo(device) || index >= loaded->kernels.size())
    return {StatusCode::InvalidInput, device.id().str() + ": expected a stream of this device and one of " +
                                          std::to_string(loaded->kernels.size()) + " kernels, got kernel " +
                                          std::to_string(index)};
  const Manifest &manifest = loaded->executable->manifest();
  const SimKernel &kernel = loaded->kernels[index];
  std::string where = std::string(entry) + ": " + manifest.place(uint64_t(manifest.kernels[index].site));
  std::vector<void *> operands;
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    int64_t bytes = kernel.operands[i].bytes;
    StatusOr<char *> memory = bytes == 0 ? StatusOr<char *>(nullptr) : device.memory().translate(pointers[i], bytes);
    if (!memory.ok())
      return memory.status().withContext(device.id().str() + ": " + where + ": kernel '" + kernel.name + "': operand " +
                                         std::to_string(i));
    operands.push_back(*memory);
  }
  return queue->submit([&device = device, loaded = loaded, &kernel, operands = std::move(operands), where] {
    return device.runGrid(kernel, operands.data()).withContext(where);
  });
}

} // namespace

StatusOr<std::unique_ptr<Kernels>> SimDevice::load(std::shared_ptr<const Executable> executable) {
  if (Status status = check(); !status.ok())
    return status;
  std::span<const DlcSimKernel> functions = executable->simKernels();
  const std::vector<KernelInfo> &infos = executable->manifest().kernels;
  if (!executable->hasDeviceEntries() || functions.size() != infos.size())
    return executable->notCompiledFor(id(), "sim");
  for (const KernelInfo &info : infos)
    if (info.call)
      return Status(StatusCode::InvalidInput,
                    id().str() + ": kernel '" + info.name + "' is a call of " + std::string(info.call->library()) +
                        ", and sim has no libraries; compile with --matmul=generated --conv=generated");
  auto loaded = std::make_shared<Loaded>();
  for (size_t i = 0; i < infos.size(); ++i)
    loaded->kernels.push_back(describe(infos[i], functions[i]));
  // Written once: kernels of the same image that run now read it.
  if (const DlcSimApi **services = executable->simApi(); services && std::atomic_ref(*services) != simServices())
    std::atomic_ref(*services).store(simServices());
  loaded->executable = std::move(executable);
  return std::unique_ptr<Kernels>(new SimKernels(*this, std::move(loaded)));
}

} // namespace dlc::runtime
