#include "drivers/cuda/Nvml.h"

#include "drivers/cuda/VendorLibrary.h"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>

namespace dlc::runtime::nvml {

namespace {

StatusOr<Api> load() {
  constexpr VendorLibrary library = {"no NVIDIA driver: ", "libnvidia-ml.so.1", nullptr, "", "", /*partial=*/true};
  Api api;
  Status opened = library.load({
#define DLC_NVML_SYMBOL(result, name, parameters) {reinterpret_cast<void **>(&api.name), #name},
      DLC_NVML_ENTRY_POINTS(DLC_NVML_SYMBOL)
#undef DLC_NVML_SYMBOL
  });
  if (!opened.ok())
    return opened;
  if (!api.nvmlInit_v2 || !api.nvmlShutdown || !api.nvmlErrorString || !api.nvmlDeviceGetCount_v2 ||
      !api.nvmlDeviceGetHandleByIndex_v2)
    return Status(StatusCode::InvalidInput,
                  std::string(VendorLibrary::replacement() ? VendorLibrary::replacement() : library.name) +
                      " is here, but does not have what NVIDIA's management library has");
  return api;
}

/// Empty where there is no such process here; in a container the driver's numbers are the host's. Whoever runs it chose
/// the name, so control characters, which terminals obey, become '?'.
std::string processName(unsigned pid) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
  std::replace_if(name.begin(), name.end(), [](unsigned char each) { return each < 0x20 || each == 0x7f; }, '?');
  return name;
}

struct Gpu {
  Device_t handle = nullptr;
  DeviceUse fixed; ///< what does not change
};

class NvmlProbe : public UseProbe {
public:
  explicit NvmlProbe(const Api &api) : api(api) {}
  ~NvmlProbe() override { api.nvmlShutdown(); }

  Status findGpus() {
    unsigned count = 0;
    if (Result result = api.nvmlDeviceGetCount_v2(&count); result != kSuccess)
      return {StatusCode::InvalidInput, message("nvmlDeviceGetCount_v2", result)};
    if (count == 0)
      return {StatusCode::InvalidInput, "the NVIDIA driver is here, but it has no GPU"};
    for (unsigned index = 0; index < count; ++index)
      findGpu(index);
    return {};
  }

  StatusOr<std::vector<DeviceUse>> sample() override {
    std::vector<DeviceUse> result;
    result.reserve(gpus.size());
    for (const Gpu &gpu : gpus) {
      DeviceUse &use = result.emplace_back(gpu.fixed);
      if (gpu.handle) {
        measure(gpu.handle, use);
        listProcesses(gpu.handle, use);
      }
    }
    return result;
  }

private:
  std::string message(std::string_view call, Result result) const {
    return std::string(call) + ": " + api.nvmlErrorString(result);
  }

  /// Whether a question was answered. What a GPU does not know, or does not tell this user, is no failure.
  bool answered(DeviceUse &use, std::string_view call, Result result) const {
    bool untold =
        result == kNotSupported || result == kNoPermission || result == kFunctionNotFound || result == kNoData;
    if (result != kSuccess && !untold && use.failure.empty())
      use.failure = message(call, result);
    return result == kSuccess;
  }
#define DLC_NVML_CALL(name, ...) (api.name ? api.name(__VA_ARGS__) : kFunctionNotFound)
#define DLC_NVML_ASK(use, name, ...) answered(use, #name, DLC_NVML_CALL(name, __VA_ARGS__))

  void findGpu(unsigned index) {
    Gpu &gpu = gpus.emplace_back();
    gpu.fixed.device = "gpu " + std::to_string(index);
    if (Result result = api.nvmlDeviceGetHandleByIndex_v2(index, &gpu.handle); result != kSuccess) {
      gpu.handle = nullptr;
      gpu.fixed.failure = message("nvmlDeviceGetHandleByIndex_v2", result);
      return;
    }
    // A failure here is no answer that later ones lack.
    DeviceUse asked;
    std::array<char, 96> name{};
    if (DLC_NVML_ASK(asked, nvmlDeviceGetName, gpu.handle, name.data(), unsigned(name.size() - 1)))
      gpu.fixed.name = name.data();
    PciInfo pci{};
    if (DLC_NVML_ASK(asked, nvmlDeviceGetPciInfo_v3, gpu.handle, &pci)) {
      pci.busId.back() = '\0';
      gpu.fixed.address = pci.busId.data();
      gpu.fixed.name += (gpu.fixed.name.empty() ? "" : ", ") + gpu.fixed.address;
    }
  }

  void measure(Device_t gpu, DeviceUse &use) const {
    if (Utilization rates{}; DLC_NVML_ASK(use, nvmlDeviceGetUtilizationRates, gpu, &rates))
      use.busy = rates.gpu;
    if (Memory memory{}; DLC_NVML_ASK(use, nvmlDeviceGetMemoryInfo, gpu, &memory)) {
      use.memoryUsed = int64_t(memory.used);
      use.memoryTotal = int64_t(memory.total);
    }
    if (unsigned milliwatts = 0; DLC_NVML_ASK(use, nvmlDeviceGetPowerUsage, gpu, &milliwatts))
      use.watts = milliwatts / 1000.0;
    if (unsigned milliwatts = 0; DLC_NVML_ASK(use, nvmlDeviceGetEnforcedPowerLimit, gpu, &milliwatts))
      use.wattsLimit = milliwatts / 1000.0;
    if (unsigned degrees = 0; DLC_NVML_ASK(use, nvmlDeviceGetTemperature, gpu, kTemperatureGpu, &degrees))
      use.celsius = degrees;
  }

  void listProcesses(Device_t gpu, DeviceUse &use) const {
    std::vector<ProcessInfo> infos;
    unsigned room = 16, count = 0;
    Result result = kInsufficientSize;
    // Processes come while they are counted.
    for (int attempt = 0; attempt < 4 && result == kInsufficientSize; ++attempt) {
      room = std::max(room, count + 8);
      // Twice the room we name: drivers of series 530 write entries of 32 bytes here.
      infos.assign(size_t(room) * 2, {});
      count = room;
      result = DLC_NVML_CALL(nvmlDeviceGetComputeRunningProcesses_v3, gpu, &count, infos.data());
    }
    if (!answered(use, "nvmlDeviceGetComputeRunningProcesses_v3", result))
      return;
    infos.resize(std::min(count, room));
    for (const ProcessInfo &info : infos) {
      DeviceUse::Process &process = use.processes.emplace_back();
      process.pid = info.pid;
      process.name = processName(info.pid);
      if (info.usedGpuMemory != kNotAvailable)
        process.bytes = int64_t(info.usedGpuMemory);
    }
  }
#undef DLC_NVML_ASK
#undef DLC_NVML_CALL

  Api api;
  std::vector<Gpu> gpus;
};

} // namespace

StatusOr<std::unique_ptr<UseProbe>> watch() {
  StatusOr<Api> api = load();
  if (!api.ok())
    return api.status();
  if (Result result = api->nvmlInit_v2(); result != kSuccess)
    return Status(StatusCode::InvalidInput, "nvmlInit_v2: " + std::string(api->nvmlErrorString(result)));
  auto probe = std::make_unique<NvmlProbe>(*api);
  if (Status status = probe->findGpus(); !status.ok())
    return status;
  return std::unique_ptr<UseProbe>(std::move(probe));
}

} // namespace dlc::runtime::nvml
