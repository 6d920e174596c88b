#include "drivers/Driver.h"
#include "drivers/cuda/CudaDevice.h"
#include "drivers/cuda/Nvml.h"

namespace dlc::runtime {

static StatusOr<int> count() {
  StatusOr<const CudaApi *> api = CudaApi::load();
  if (!api.ok())
    return api.status();
  int devices = 0;
  // Says no more when there is none, as when the driver cannot be used.
  if (int result = (*api)->cuInit(0))
    return (*api)->status(result, "cuInit");
  if (int result = (*api)->cuDeviceGetCount(&devices))
    return (*api)->status(result, "cuDeviceGetCount");
  if (devices == 0)
    return (*api)->status(kNoDevice, "cuDeviceGetCount");
  return devices;
}

static StatusOr<std::unique_ptr<Device>> open(int index) {
  StatusOr<const CudaApi *> api = CudaApi::load();
  if (!api.ok())
    return api.status();
  return CudaDevice::open(**api, index);
}

const Driver kCudaDriver = {"cuda", count, open, nvml::watch, /*traced=*/true, /*ofHost=*/true};

} // namespace dlc::runtime
