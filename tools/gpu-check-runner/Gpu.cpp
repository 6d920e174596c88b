#include "Gpu.h"

#include <array>

namespace dlc::gpucheck {

namespace {

/// Multiplications with additions of one multiprocessor a cycle, from NVIDIA's papers on the architectures: "NVIDIA
/// A100 Tensor Core GPU Architecture" (2020), table 1; "NVIDIA Ada GPU Architecture" (2022), appendix A; "NVIDIA H100
/// Tensor Core GPU Architecture" (2022), table 2; of Blackwell, the data sheet of the B200 divided by its
/// multiprocessors and clock.
struct Throughput {
  int capability;
  double single, tf32, half;
};
constexpr Throughput kThroughputs[] = {
    {80, 64, 512, 1024}, {86, 128, 256, 512}, {89, 128, 256, 512}, {90, 128, 1024, 2048}, {100, 128, 2048, 4096},
};

} // namespace

double Gpu::peakArithmetic(std::string_view type) const {
  for (const Throughput &each : kThroughputs)
    if (each.capability == capability)
      return 2 * (type == "f32" ? each.single : type == "tf32" ? each.tf32 : each.half) * multiprocessors * clock;
  return 0;
}

StatusOr<Gpu> Gpu::ask(const runtime::CudaApi &api, const DeviceId &id) {
  using namespace runtime;
  Gpu gpu;
  CUdevice device = 0;
  std::array<char, 256> name{};
  size_t bytes = 0;
  if (Status status = api.status(api.cuInit(0), "cuInit"); !status.ok())
    return status;
  if (Status status = api.status(api.cuDeviceGet(&device, id.index), "cuDeviceGet"); !status.ok())
    return status;
  api.cuDriverGetVersion(&gpu.driver);
  api.cuDeviceGetName(name.data(), int(name.size()), device);
  api.cuDeviceTotalMem(&bytes, device);
  auto attribute = [&](int which) {
    int value = 0;
    return api.cuDeviceGetAttribute(&value, which, device) == kSuccess ? value : 0;
  };
  gpu.name = name.data();
  gpu.bytes = double(bytes);
  gpu.capability = 10 * attribute(kCapabilityMajor) + attribute(kCapabilityMinor);
  gpu.multiprocessors = attribute(kMultiprocessors);
  gpu.clock = 1e3 * attribute(kClockRate);
  gpu.memoryClock = 1e3 * attribute(kMemoryClockRate);
  gpu.memoryBits = attribute(kMemoryBusWidth);
  return gpu;
}

} // namespace dlc::gpucheck
