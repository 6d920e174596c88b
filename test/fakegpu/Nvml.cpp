/// NVIDIA's management library as tests want it: DLCFAKE_DEVICES GPUs (1) with DLCFAKE_MEMORY bytes each (80 GiB).
/// GPU i is 25 % · (i + 1) busy, holds i + 1 GiB, takes 100.5 W · (i + 1) of 700 W and is 40 + i °C. GPU 0 runs this
/// process with 512 MiB and one that no system has, with an unknown size.
/// DLCFAKE_FAIL=<entry point>:<k> makes its call k, counted from 1 since the variable was set, find the GPU lost;
/// DLCFAKE_UNSUPPORTED=<entry point>,… are not supported. A wrong order of calls or a wrong handle is an error, as in
/// the real one.
#include "drivers/cuda/Nvml.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <unistd.h>

using namespace dlc::runtime::nvml;

struct dlc::runtime::nvml::Device_st {
  unsigned index;
};

namespace {

constexpr Result kUninitialized = 1, kInvalidArgument = 2;
constexpr unsigned long long kGiB = 1ULL << 30;
constexpr unsigned kMostDevices = 8;

std::atomic<int> initialized{0};
std::array<Device_st, kMostDevices> devices{{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}};

std::string_view setting(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

unsigned long long number(const char *name, unsigned long long otherwise) {
  std::string text(setting(name));
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

unsigned deviceCount() { return unsigned(std::min<unsigned long long>(number("DLCFAKE_DEVICES", 1), kMostDevices)); }

/// Whether `name` is one of a list with commas.
bool isListed(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == name)
      return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// What every call does first.
Result enter(std::string_view name) {
  static std::mutex lock;
  static std::map<std::string, int, std::less<>> calls;
  static std::string failing;
  std::lock_guard guard(lock);
  if (std::string asked(setting("DLCFAKE_FAIL")); asked != failing) {
    failing = asked;
    calls.clear();
  }
  int call = ++calls[std::string(name)];
  if (failing == std::string(name) + ":" + std::to_string(call))
    return kGpuIsLost;
  return isListed(setting("DLCFAKE_UNSUPPORTED"), name) ? kNotSupported : kSuccess;
}

/// … and the calls for a device then.
Result enter(std::string_view name, Device_t device) {
  if (initialized == 0)
    return kUninitialized;
  if (device < devices.data() || device >= devices.data() + deviceCount())
    return kInvalidArgument;
  return enter(name);
}

template <typename Value>
Result tell(Result entered, Value *result, const std::type_identity_t<Value> &value) {
  if (entered == kSuccess)
    *result = value;
  return entered;
}

} // namespace

#define DLCFAKE_EXPORT extern "C" __attribute__((visibility("default")))

DLCFAKE_EXPORT Result nvmlInit_v2() {
  Result entered = enter(__func__);
  if (entered == kSuccess)
    ++initialized;
  return entered;
}

DLCFAKE_EXPORT Result nvmlShutdown() {
  if (initialized == 0)
    return kUninitialized;
  --initialized;
  return kSuccess;
}

DLCFAKE_EXPORT const char *nvmlErrorString(Result result) {
  switch (result) {
  case kUninitialized:
    return "Uninitialized";
  case kInvalidArgument:
    return "Invalid Argument";
  case kNotSupported:
    return "Not Supported";
  case kGpuIsLost:
    return "GPU is lost";
  default:
    return "Unknown Error";
  }
}

DLCFAKE_EXPORT Result nvmlDeviceGetCount_v2(unsigned *count) {
  return tell(initialized == 0 ? kUninitialized : enter(__func__), count, deviceCount());
}

DLCFAKE_EXPORT Result nvmlDeviceGetHandleByIndex_v2(unsigned index, Device_t *device) {
  if (index >= deviceCount())
    return kInvalidArgument;
  return tell(enter(__func__, &devices[index]), device, &devices[index]);
}

DLCFAKE_EXPORT Result nvmlDeviceGetName(Device_t device, char *name, unsigned length) {
  Result entered = enter(__func__, device);
  if (entered == kSuccess)
    std::snprintf(name, length, "dlc fake GPU");
  return entered;
}

DLCFAKE_EXPORT Result nvmlDeviceGetPciInfo_v3(Device_t device, PciInfo *pci) {
  Result entered = enter(__func__, device);
  if (entered != kSuccess)
    return entered;
  *pci = {};
  pci->bus = device->index + 1;
  std::snprintf(pci->busId.data(), pci->busId.size(), "00000000:%02X:00.0", pci->bus);
  return kSuccess;
}

DLCFAKE_EXPORT Result nvmlDeviceGetUtilizationRates(Device_t device, Utilization *rates) {
  Result entered = enter(__func__, device);
  return tell(entered, rates, entered == kSuccess ? Utilization{25 * (device->index + 1), 10} : Utilization{});
}

DLCFAKE_EXPORT Result nvmlDeviceGetMemoryInfo(Device_t device, Memory *memory) {
  Result entered = enter(__func__, device);
  if (entered != kSuccess)
    return entered;
  unsigned long long total = number("DLCFAKE_MEMORY", 80 * kGiB), used = (device->index + 1) * kGiB;
  *memory = {total, total - used, used};
  return kSuccess;
}

DLCFAKE_EXPORT Result nvmlDeviceGetPowerUsage(Device_t device, unsigned *milliwatts) {
  Result entered = enter(__func__, device);
  return tell(entered, milliwatts, entered == kSuccess ? 100'500 * (device->index + 1) : 0);
}

DLCFAKE_EXPORT Result nvmlDeviceGetEnforcedPowerLimit(Device_t device, unsigned *milliwatts) {
  return tell(enter(__func__, device), milliwatts, 700'000);
}

DLCFAKE_EXPORT Result nvmlDeviceGetTemperature(Device_t device, int sensor, unsigned *degrees) {
  Result entered = sensor == kTemperatureGpu ? enter(__func__, device) : kInvalidArgument;
  return tell(entered, degrees, entered == kSuccess ? 40 + device->index : 0);
}

DLCFAKE_EXPORT Result nvmlDeviceGetComputeRunningProcesses_v3(Device_t device, unsigned *count, ProcessInfo *infos) {
  Result entered = enter(__func__, device);
  if (entered != kSuccess)
    return entered;
  // DLCFAKE_PROCESSES: so many of this process on GPU 0 instead.
  auto asked = unsigned(number("DLCFAKE_PROCESSES", 0));
  unsigned running = device->index != 0 ? 0 : asked != 0 ? asked : 2, room = *count;
  *count = running;
  if (room < running)
    return kInsufficientSize;
  constexpr unsigned none = ~0U;
  for (unsigned i = 0; i < running; ++i)
    infos[i] = {unsigned(::getpid()), kGiB / 2, none, none};
  if (running == 2)
    infos[1] = {0x7fffffffU, kNotAvailable, none, none};
  return kSuccess;
}

#define DLCFAKE_CHECK(result, name, parameters)                                                                        \
  static_assert(std::is_same_v<decltype(&::name), decltype(Api::name)>, #name);
DLC_NVML_ENTRY_POINTS(DLCFAKE_CHECK)
#undef DLCFAKE_CHECK
