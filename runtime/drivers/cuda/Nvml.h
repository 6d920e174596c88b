#pragma once

#include "dlc/runtime/DeviceUse.h"

#include <array>
#include <type_traits>

/// The part of NVIDIA's management library that tells how busy its GPUs are. The library comes with the driver and is
/// opened on use; the declarations are its ABI, compared with the vendor's header where that is installed
/// (test/unit/runtime/drivers/cuda/NvmlHeaderTest.cpp).
namespace dlc::runtime::nvml {

using Result = int;
inline constexpr Result kSuccess = 0, kNotSupported = 3, kNoPermission = 4, kInsufficientSize = 7,
                        kFunctionNotFound = 13, kGpuIsLost = 15, kNoData = 21;
/// Sensor of nvmlDeviceGetTemperature.
inline constexpr int kTemperatureGpu = 0;
/// ProcessInfo::usedGpuMemory that is not known.
inline constexpr unsigned long long kNotAvailable = ~0ULL;

struct Device_st;
using Device_t = Device_st *;

struct Utilization {
  unsigned gpu, memory; ///< percent
};
struct Memory {
  unsigned long long total, free, used; ///< bytes
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long usedGpuMemory; ///< bytes
  unsigned gpuInstanceId, computeInstanceId;
};
struct PciInfo {
  std::array<char, 16> busIdLegacy;
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  std::array<char, 32> busId; ///< "00000000:65:00.0"
};

/// X(result, name, parameters) of each entry point. Power is in milliwatts, temperature in °C.
#define DLC_NVML_ENTRY_POINTS(X)                                                                                       \
  X(Result, nvmlInit_v2, ())                                                                                           \
  X(Result, nvmlShutdown, ())                                                                                          \
  X(const char *, nvmlErrorString, (Result))                                                                           \
  X(Result, nvmlDeviceGetCount_v2, (unsigned *))                                                                       \
  X(Result, nvmlDeviceGetHandleByIndex_v2, (unsigned, Device_t *))                                                     \
  X(Result, nvmlDeviceGetName, (Device_t, char *, unsigned))                                                           \
  X(Result, nvmlDeviceGetPciInfo_v3, (Device_t, PciInfo *))                                                            \
  X(Result, nvmlDeviceGetUtilizationRates, (Device_t, Utilization *))                                                  \
  X(Result, nvmlDeviceGetMemoryInfo, (Device_t, Memory *))                                                             \
  X(Result, nvmlDeviceGetPowerUsage, (Device_t, unsigned *))                                                           \
  X(Result, nvmlDeviceGetEnforcedPowerLimit, (Device_t, unsigned *))                                                   \
  X(Result, nvmlDeviceGetTemperature, (Device_t, int, unsigned *))                                                     \
  X(Result, nvmlDeviceGetComputeRunningProcesses_v3, (Device_t, unsigned *, ProcessInfo *))

/// The entry points of a library; null where an older one lacks them.
struct Api {
#define DLC_NVML_POINTER(result, name, parameters) std::add_pointer_t<result parameters> name = nullptr;
  DLC_NVML_ENTRY_POINTS(DLC_NVML_POINTER)
#undef DLC_NVML_POINTER
};

/// Opens libnvidia-ml.so.1, or what DLC_GPU_LIBRARY names; a failure is one sentence that says what is missing. One of
/// several GPUs that does not answer, or one question that is not answered, fails nothing: see DeviceUse.
StatusOr<std::unique_ptr<UseProbe>> watch();

} // namespace dlc::runtime::nvml
