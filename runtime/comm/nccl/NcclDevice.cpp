#include "comm/nccl/NcclDevice.h"

#include "dlc/runtime/DeviceId.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace dlc::runtime {

StatusOr<std::unique_ptr<NcclDevice>> NcclDevice::named(const std::string &name) {
  StatusOr<const CudaApi *> api = CudaApi::load();
  if (!api.ok())
    return api.status();
  return std::unique_ptr<NcclDevice>(new NcclDevice(**api, name));
}

StatusOr<std::unique_ptr<NcclDevice>> NcclDevice::open(const std::string &name) {
  StatusOr<std::unique_ptr<NcclDevice>> made = named(name);
  if (!made.ok())
    return made;
  StatusOr<CUdevice> found = (*made)->find();
  Status status = found.ok() ? (*made)->prepare(*found) : found.status();
  return status.ok() ? std::move(made) : StatusOr<std::unique_ptr<NcclDevice>>(status);
}

StatusOr<std::string> NcclDevice::addressOf(const std::string &name) {
  StatusOr<std::unique_ptr<NcclDevice>> device = named(name);
  StatusOr<CUdevice> found = device.ok() ? (*device)->find() : device.status();
  if (!found.ok())
    return found.status();
  char address[32] = {};
  Status status =
      (*device)->check((*device)->api.cuDeviceGetPCIBusId(address, sizeof address, *found), "cuDeviceGetPCIBusId");
  return status.ok() ? StatusOr<std::string>(address) : status;
}

StatusOr<CUdevice> NcclDevice::find() {
  constexpr std::string_view kPrefix = "cuda:";
  int index = -1;
  if (name.starts_with(kPrefix))
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), index);
  if (index < 0)
    return Status(StatusCode::InvalidInput,
                  "nccl expects members on CUDA devices, got " + (name.empty() ? "no device" : name));
  if (Status status = check(api.cuInit(0), "cuInit"); !status.ok())
    return status;
  CUdevice found = -1;
  if (Status status = check(api.cuDeviceGet(&found, index), "cuDeviceGet"); !status.ok())
    return status;
  return found;
}

Status NcclDevice::prepare(CUdevice found) {
  if (Status status = check(api.cuDevicePrimaryCtxRetain(&context, found), "cuDevicePrimaryCtxRetain"); !status.ok())
    return status;
  device = found;
  if (Status status = use(); !status.ok())
    return status;
  for (CUstream *each : {&collectives, &copies})
    if (Status status = check(api.cuStreamCreate(each, kStreamNonBlocking), "cuStreamCreate"); !status.ok())
      return status;
  return check(api.cuEventCreate(&end, kEventDisableTiming), "cuEventCreate");
}

// Results are of no use here: after a failure of the device each of these fails too.
NcclDevice::~NcclDevice() {
  if (device < 0)
    return;
  (void)use();
  for (CUstream each : {collectives, copies})
    if (each)
      api.cuStreamDestroy(each);
  if (end)
    api.cuEventDestroy(end);
  for (const Buffer &each : buffers)
    if (each.address)
      api.cuMemFree(each.address);
  api.cuDevicePrimaryCtxRelease(device);
}

Status NcclDevice::check(int result, std::string_view function) const {
  Status status = api.status(result, function);
  return status.ok() ? status : status.withContext(name);
}

Status NcclDevice::use() const { return check(api.cuCtxSetCurrent(context), "cuCtxSetCurrent"); }

StatusOr<char *> NcclDevice::room(Place place, int64_t bytes) {
  Buffer &buffer = buffers[place];
  if (buffer.bytes < bytes) {
    if (buffer.address)
      if (Status status = check(api.cuMemFree(buffer.address), "cuMemFree"); !status.ok())
        return status;
    buffer = {};
    int64_t asked = std::max<int64_t>(bytes, 1 << 16);
    if (Status status = check(api.cuMemAlloc(&buffer.address, size_t(asked)), "cuMemAlloc"); !status.ok())
      return status.withContext(std::to_string(asked) + " bytes for elements of collectives");
    buffer.bytes = asked;
  }
  return std::bit_cast<char *>(buffer.address);
}

Status NcclDevice::upload(char *to, const void *from, int64_t bytes) const {
  if (bytes == 0)
    return {};
  auto address = reinterpret_cast<CUdeviceptr>(to);
  if (Status status = check(api.cuMemcpyHtoDAsync(address, from, size_t(bytes), copies), "cuMemcpyHtoDAsync");
      !status.ok())
    return status;
  return check(api.cuStreamSynchronize(copies), "cuStreamSynchronize");
}

Status NcclDevice::download(void *to, const char *from, int64_t bytes) const {
  if (bytes == 0)
    return {};
  auto address = reinterpret_cast<CUdeviceptr>(from);
  if (Status status = check(api.cuMemcpyDtoHAsync(to, address, size_t(bytes), copies), "cuMemcpyDtoHAsync");
      !status.ok())
    return status;
  return check(api.cuStreamSynchronize(copies), "cuStreamSynchronize");
}

Status NcclDevice::mark() const { return check(api.cuEventRecord(end, collectives), "cuEventRecord"); }

StatusOr<bool> NcclDevice::reached() const {
  int result = api.cuEventQuery(end);
  if (result == kNotReady)
    return false;
  if (Status status = check(result, "cuEventQuery"); !status.ok())
    return status;
  return true;
}

} // namespace dlc::runtime
