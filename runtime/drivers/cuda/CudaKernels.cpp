#include "drivers/cuda/CudaStream.h"
#include "drivers/cuda/HostImage.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace dlc::runtime {

namespace {

/// What the driver may be given as a module, in the order to try.
struct Candidate {
  std::string name; ///< for messages: "cubin for sm_90"
  const void *image = nullptr;
};

// 90 of "sm_90"; code for one exact device ("sm_90a") is not forward compatible: none.
int capabilityOf(std::string_view target) {
  constexpr std::string_view prefix = "sm_";
  int value = 0;
  if (!target.starts_with(prefix))
    return 0;
  auto [end, error] = std::from_chars(target.data() + prefix.size(), target.data() + target.size(), value);
  return error == std::errc() && end == target.data() + target.size() ? value : 0;
}

class CudaKernels : public Kernels {
public:
  CudaKernels(CudaDevice &device, std::shared_ptr<const Executable> executable)
      : device(device), executable(std::move(executable)) {}
  ~CudaKernels() override;

  Status loadModule();
  Status launch(Stream &stream, uint32_t index, void *const *pointers, std::string_view entry) override;

private:
  std::vector<Candidate> candidates();
  Status tryModule(const Candidate &candidate, std::string &refusals);
  Status openModule(const std::vector<Candidate> &candidates);
  StatusOr<std::unique_ptr<LibraryKernel>> prepare(const KernelInfo &info);
  Status checkOperands(const KernelInfo &info, void *const *pointers) const;
  /// Ok where the device failed: what failed it is in `result`.
  Status startFunction(const CudaStream &queue, uint32_t index, void *const *pointers, int &result);
  std::string needed() const { return device.compileTargets().front(); }

  /// What a launch starts, one of the two.
  struct Start {
    CUfunction function = nullptr;
    std::unique_ptr<LibraryKernel> call;
  };

  CudaDevice &device;
  std::shared_ptr<const Executable> executable;
  std::vector<std::string> texts; ///< PTX with the zero at its end that the driver wants
  HostImage host;
  CUmodule module = nullptr;
  std::vector<Start> starts; ///< by index of the manifest
};

// A cubin runs on devices of its major version and no older minor one, PTX on all newer ones.
std::vector<Candidate> CudaKernels::candidates() {
  struct Code {
    int capability;
    const DlcDeviceCode *code;
  };
  std::vector<Code> cubins, assemblies;
  int own = device.capability();
  for (const DlcDeviceCode &code : executable->deviceCode()) {
    int capability = capabilityOf(code.target);
    bool older = capability > 0 && capability <= own;
    if (older && std::string_view(code.format) == "cubin" && capability / 10 == own / 10)
      cubins.push_back({capability, &code});
    else if (older && std::string_view(code.format) == "ptx")
      assemblies.push_back({capability, &code});
  }
  std::vector<Candidate> all;
  for (std::vector<Code> *codes : {&cubins, &assemblies})
    std::sort(codes->begin(), codes->end(), [](auto &a, auto &b) { return a.capability > b.capability; });
  all.reserve(cubins.size() + assemblies.size() + 1);
  for (const Code &each : cubins)
    all.push_back({std::string("cubin for ") + each.code->target, each.code->data});
  texts.reserve(assemblies.size());
  for (const Code &each : assemblies) {
    texts.emplace_back(static_cast<const char *>(each.code->data), each.code->bytes);
    all.push_back({std::string("PTX for ") + each.code->target, texts.back().c_str()});
  }
  if (device.api().replaced && executable->simKernels().size() == executable->manifest().kernels.size()) {
    HostImage::kMagic.copy(host.magic, sizeof host.magic - 1);
    host.executable = executable;
    all.push_back({"kernels for the host", &host});
  }
  return all;
}

Status CudaKernels::tryModule(const Candidate &candidate, std::string &refusals) {
  constexpr size_t kLogBytes = 2048;
  char log[kLogBytes] = {};
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {log, std::bit_cast<void *>(kLogBytes)};
  int result = device.api().cuModuleLoadDataEx(&module, candidate.image, 2, options, values);
  if (result == kSuccess)
    return {};
  module = nullptr;
  Status status = device.done(result, "cuModuleLoadDataEx").withContext(candidate.name);
  if (result != kInvalidImage && result != kNoBinaryForGpu && result != kInvalidPtx && result != kUnsupportedPtx)
    return status;
  std::string_view said(log);
  if (said.empty()) {
    refusals += (refusals.empty() ? "" : "; ") + status.message();
    return {};
  }
  said = said.substr(0, said.find_last_not_of(" \n") + 1);
  refusals += (refusals.empty() ? "" : "; ") + status.message() + ": " + std::string(said);
  return {};
}

Status CudaKernels::openModule(const std::vector<Candidate> &candidates) {
  std::string refusals;
  for (const Candidate &each : candidates) {
    if (Status status = tryModule(each, refusals); !status.ok())
      return status;
    if (module)
      return {};
  }
  return {StatusCode::InvalidInput, device.id().str() + ": the driver takes none of the program's kernels (" +
                                        refusals + "); compile it with --target=" + needed()};
}

StatusOr<std::unique_ptr<LibraryKernel>> CudaKernels::prepare(const KernelInfo &info) {
  auto held = device.holdCapture(); // libraries may wait for the device when they begin and end
  StatusOr<std::shared_ptr<DeviceLibrary>> library = device.vendorLibraries().open(info.call->library());
  if (!library.ok())
    return device.libraryFailed(library.status());
  StatusOr<std::unique_ptr<LibraryKernel>> kernel = (*library)->prepare(*info.call);
  if (!kernel.ok())
    return device.libraryFailed(kernel.status().withContext(executable->manifest().place(uint64_t(info.site)) +
                                                            ": kernel '" + info.name + "'"));
  return kernel;
}

Status CudaKernels::loadModule() {
  const std::vector<KernelInfo> &infos = executable->manifest().kernels;
  std::vector<Candidate> all = candidates();
  bool hasFunctions = std::any_of(infos.begin(), infos.end(), [](const KernelInfo &info) { return !info.call; });
  if (!executable->hasDeviceEntries() || (all.empty() && hasFunctions))
    return executable->notCompiledFor(device.id(), needed());
  if (hasFunctions)
    if (Status status = openModule(all); !status.ok())
      return status;
  for (const KernelInfo &info : infos) {
    Start &start = starts.emplace_back();
    if (info.call) {
      StatusOr<std::unique_ptr<LibraryKernel>> call = prepare(info);
      if (!call.ok())
        return call.status();
      start.call = call.take();
      continue;
    }
    int result = device.api().cuModuleGetFunction(&start.function, module, info.name.c_str());
    if (Status status = device.done(result, "cuModuleGetFunction"); !status.ok())
      return status.withContext("kernel '" + info.name + "'");
  }
  return {};
}

CudaKernels::~CudaKernels() {
  if (starts.empty() && !module)
    return;
  device.enterToEnd();
  device.waitForAll();
  auto held = device.holdCapture();
  starts.clear();
  if (module)
    device.ended(device.api().cuModuleUnload(module), "cuModuleUnload");
}

Status CudaKernels::checkOperands(const KernelInfo &info, void *const *pointers) const {
  for (size_t i = 0; i < info.operands.size(); ++i) {
    int64_t bytes = info.operands[i].bytes;
    if (Status status = bytes == 0 ? Status() : device.memory().check(pointers[i], bytes); !status.ok())
      return status.withContext("operand " + std::to_string(i));
  }
  return {};
}

Status CudaKernels::startFunction(const CudaStream &queue, uint32_t index, void *const *pointers, int &result) {
  const KernelInfo &info = executable->manifest().kernels[index];
  std::vector<const void *> parameters; // each points to a parameter's value, an address
  parameters.reserve(info.operands.size());
  for (size_t i = 0; i < info.operands.size(); ++i)
    parameters.push_back(static_cast<const void *>(&pointers[i]));
  auto extent = [](const std::array<int64_t, 3> &shape, size_t axis) { return unsigned(shape[axis]); };
  result = device.api().cuLaunchKernel(
      starts[index].function, extent(info.grid, 0), extent(info.grid, 1), extent(info.grid, 2), extent(info.block, 0),
      extent(info.block, 1), extent(info.block, 2), 0, queue.get(), const_cast<void **>(parameters.data()), nullptr);
  return endsDevice(result) ? Status() : device.api().status(result, "cuLaunchKernel");
}

Status CudaKernels::launch(Stream &stream, uint32_t index, void *const *pointers, std::string_view entry) {
  if (Status status = device.enter(); !status.ok())
    return status;
  auto *queue = dynamic_cast<CudaStream *>(&stream);
  if (!queue || !queue->belongsTo(device) || index >= starts.size())
    return {StatusCode::InvalidInput, device.id().str() + ": expected a stream of this device and one of " +
                                          std::to_string(starts.size()) + " kernels, got kernel " +
                                          std::to_string(index)};
  auto held = queue->hold();
  LaunchLog::Launch launch{executable, index, std::string(entry)};
  int result = kSuccess;
  Status status = checkOperands(executable->manifest().kernels[index], pointers);
  if (status.ok() && starts[index].call) {
    status = starts[index].call->run(queue->get(), pointers);
    if (!status.ok())
      return device.libraryFailed(status.withContext(launch.str()));
  } else if (status.ok()) {
    status = startFunction(*queue, index, pointers, result);
  }
  // Before the result is looked at: one that ends the device may come from an earlier launch, or from this one.
  if (!status.ok())
    return status.withContext(device.id().str() + ": " + launch.str());
  device.launches().add(queue->get(), std::move(launch));
  if (status = device.done(result, "cuLaunchKernel"); !status.ok() || !device.waitsForEachKernel())
    return status;
  return queue->synchronize();
}

} // namespace

StatusOr<std::unique_ptr<Kernels>> CudaDevice::load(std::shared_ptr<const Executable> executable) {
  if (Status status = enter(); !status.ok())
    return status;
  auto kernels = std::make_unique<CudaKernels>(*this, std::move(executable));
  if (Status status = kernels->loadModule(); !status.ok())
    return status;
  return std::unique_ptr<Kernels>(std::move(kernels));
}

} // namespace dlc::runtime
