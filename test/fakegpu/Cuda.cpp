// The entry points of libcuda, without those of modules.
#include "FakeDriver.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <type_traits>

using namespace dlc;
using namespace dlc::fakegpu;
using namespace dlc::runtime;

namespace {

const char *nameOf(int result) {
  switch (result) {
#define DLC_CUDA_RESULT(ours, theirs, value, fatal, advice)                                                            \
  case value:                                                                                                          \
    return #theirs;
    DLC_CUDA_RESULTS(DLC_CUDA_RESULT)
#undef DLC_CUDA_RESULT
  default:
    return nullptr;
  }
}

/// The bytes behind an address of the device; null: outside what is allocated.
char *bytesOf(CUctx_st *context, CUdeviceptr address, size_t bytes) {
  StatusOr<char *> found = context->memory->translate(std::bit_cast<const void *>(address), int64_t(bytes));
  return found.ok() ? *found : nullptr;
}

template <typename Handle>
std::remove_pointer_t<Handle> *find(std::map<Handle, std::unique_ptr<std::remove_pointer_t<Handle>>> &handles,
                                    Handle handle) {
  std::lock_guard guard(FakeDriver::get().lock);
  return handles.contains(handle) ? handle : nullptr;
}

/// A copy of bytes that lie still, in a stream.
int submitCopy(CUstream stream, void *to, const void *from, size_t bytes) {
  FakeDriver &driver = FakeDriver::get();
  CUstream_st *queue = find(driver.streams, stream);
  if (!queue)
    return kInvalidHandle;
  if (!to || !from)
    return kInvalidValue;
  return driver.submit(*queue, [=] {
    std::memcpy(to, from, bytes);
    return int(kSuccess);
  });
}

/// Who waits for work that is only noted ends the capture.
bool invalidates(const CapturePlace &place) {
  if (place.graph)
    place.graph->invalid = true;
  return place.graph != nullptr;
}

/// A stream waits for an event where one of them is captured.
int joinCapture(CUstream_st &stream, const CUevent_st &event) {
  if (!event.capture.graph)
    return kCaptureIsolation;
  if (!stream.capture.graph) {
    stream.capture = event.capture;
    return kSuccess;
  }
  if (stream.capture.graph != event.capture.graph)
    return kCaptureIsolation;
  stream.capture.after.insert(stream.capture.after.end(), event.capture.after.begin(), event.capture.after.end());
  return kSuccess;
}

bool isDevice(CUdevice device) { return device >= 0 && size_t(device) < FakeDriver::get().devices().size(); }

} // namespace

extern "C" {

int cuInit(unsigned) {
  DLC_FAKE_ENTER(cuInit)
  return driver.initialize();
}

int cuDriverGetVersion(int *version) {
  DLC_FAKE_ENTER(cuDriverGetVersion)
  *version = 13000;
  return kSuccess;
}

int cuGetErrorName(int result, const char **name) {
  DLC_FAKE_ENTER(cuGetErrorName)
  *name = nameOf(result);
  return *name ? kSuccess : kInvalidValue;
}

int cuDeviceGetCount(int *count) {
  DLC_FAKE_ENTER(cuDeviceGetCount)
  *count = int(driver.devices().size());
  return kSuccess;
}

int cuDeviceGet(CUdevice *device, int index) {
  DLC_FAKE_ENTER(cuDeviceGet)
  *device = index;
  return isDevice(index) ? kSuccess : kInvalidDevice;
}

int cuDeviceGetName(char *name, int bytes, CUdevice device) {
  DLC_FAKE_ENTER(cuDeviceGetName)
  if (!isDevice(device) || bytes <= 0)
    return kInvalidDevice;
  std::strncpy(name, "a GPU of test/fakegpu", size_t(bytes) - 1);
  name[bytes - 1] = '\0';
  return kSuccess;
}

int cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  DLC_FAKE_ENTER(cuDeviceTotalMem)
  if (!isDevice(device))
    return kInvalidDevice;
  *bytes = size_t(driver.devices()[size_t(device)]->memory->limit());
  return kSuccess;
}

int cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  DLC_FAKE_ENTER(cuDeviceGetAttribute)
  if (!isDevice(device))
    return kInvalidDevice;
  constexpr std::pair<int, int> values[] = {{kMultiprocessors, 132},       {kCapabilityMajor, 9},
                                            {kCapabilityMinor, 0},         {kClockRate, 1'830'000},
                                            {kMemoryClockRate, 2'619'000}, {kMemoryBusWidth, 5120}};
  for (auto [known, found] : values)
    if (known == attribute) {
      *value = found;
      return kSuccess;
    }
  return kInvalidValue;
}

int cuDeviceGetPCIBusId(char *address, int bytes, CUdevice device) {
  DLC_FAKE_ENTER(cuDeviceGetPCIBusId)
  if (!isDevice(device) || bytes < 13)
    return kInvalidDevice;
  std::snprintf(address, size_t(bytes), "0000:%02X:00.0", unsigned(deviceOfHost(device) + 1));
  return kSuccess;
}

int cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  DLC_FAKE_ENTER(cuDevicePrimaryCtxRetain)
  if (!isDevice(device))
    return kInvalidDevice;
  driver.retain(device);
  *context = driver.devices()[size_t(device)].get();
  return kSuccess;
}

int cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  DLC_FAKE_ENTER(cuDevicePrimaryCtxRelease)
  return isDevice(device) ? driver.release(device) : int(kInvalidDevice);
}

int cuDevicePrimaryCtxReset_v2(CUdevice device) {
  DLC_FAKE_ENTER(cuDevicePrimaryCtxReset)
  return isDevice(device) ? driver.reset(device) : int(kInvalidDevice);
}

int cuCtxSetCurrent(CUcontext context) {
  DLC_FAKE_ENTER(cuCtxSetCurrent)
  current = context;
  return kSuccess;
}

int cuCtxSynchronize(void) {
  DLC_FAKE_ENTER_CONTEXT(cuCtxSynchronize)
  std::vector<SimSchedule::Point> points;
  {
    std::lock_guard guard(driver.lock);
    for (const auto &[handle, stream] : driver.streams)
      if (stream->context == context && invalidates(stream->capture))
        return kCaptureUnsupported;
    for (const auto &[handle, stream] : driver.streams)
      if (stream->context == context)
        points.push_back(driver.schedule().mark(stream->queue));
  }
  for (const SimSchedule::Point &point : points)
    driver.schedule().reach(point);
  return context->failure;
}

int cuMemGetInfo_v2(size_t *free, size_t *total) {
  DLC_FAKE_ENTER_CONTEXT(cuMemGetInfo)
  std::lock_guard guard(driver.lock);
  *total = *free = size_t(context->memory->limit());
  for (const auto &[address, bytes] : context->allocations)
    *free -= bytes;
  return kSuccess;
}

int cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  DLC_FAKE_ENTER_CONTEXT(cuMemAlloc)
  if (bytes == 0)
    return kInvalidValue;
  std::lock_guard guard(driver.lock);
  StatusOr<char *> base = context->memory->reserve("fakegpu", int64_t(bytes));
  if (!base.ok())
    return kOutOfMemory;
  *address = reinterpret_cast<CUdeviceptr>(*base);
  context->allocations[*address] = bytes;
  return kSuccess;
}

int cuMemFree_v2(CUdeviceptr address) {
  DLC_FAKE_ENTER_CONTEXT(cuMemFree)
  std::lock_guard guard(driver.lock);
  if (context->allocations.erase(address) == 0)
    return kInvalidValue;
  context->memory->release(std::bit_cast<const char *>(address));
  return kSuccess;
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  DLC_FAKE_ENTER_CONTEXT(cuMemHostAlloc)
  if (bytes == 0 || flags != 0)
    return kInvalidValue;
  std::lock_guard guard(driver.lock);
  auto made = std::make_unique<char[]>(bytes);
  *memory = made.get();
  context->locked.emplace(*memory, std::move(made));
  return kSuccess;
}

int cuMemFreeHost(void *memory) {
  DLC_FAKE_ENTER_CONTEXT(cuMemFreeHost)
  std::lock_guard guard(driver.lock);
  return context->locked.erase(memory) ? kSuccess : kInvalidValue;
}

int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  DLC_FAKE_ENTER_CONTEXT(cuMemcpyHtoDAsync)
  return submitCopy(stream, bytesOf(context, to, bytes), from, bytes);
}

int cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  DLC_FAKE_ENTER_CONTEXT(cuMemcpyDtoHAsync)
  return submitCopy(stream, to, bytesOf(context, from, bytes), bytes);
}

int cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  DLC_FAKE_ENTER_CONTEXT(cuMemcpyDtoDAsync)
  return submitCopy(stream, bytesOf(context, to, bytes), bytesOf(context, from, bytes), bytes);
}

int cuMemcpyPeerAsync(CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext, size_t bytes,
                      CUstream stream) {
  DLC_FAKE_ENTER_CONTEXT(cuMemcpyPeerAsync)
  CUstream_st *queue = find(driver.streams, stream);
  if (!queue || (queue->context != toContext && queue->context != fromContext))
    return kInvalidHandle;
  return submitCopy(stream, bytesOf(toContext, to, bytes), bytesOf(fromContext, from, bytes), bytes);
}

int cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  DLC_FAKE_ENTER(cuDeviceCanAccessPeer)
  if (!isDevice(device) || !isDevice(peer))
    return kInvalidDevice;
  *can = device != peer;
  return kSuccess;
}

int cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  DLC_FAKE_ENTER_CONTEXT(cuCtxEnablePeerAccess)
  if (flags != 0)
    return kInvalidValue;
  if (peer == context)
    return kInvalidDevice;
  std::lock_guard guard(driver.lock);
  return context->peers.insert(peer).second ? kSuccess : kPeerAccessAlreadyEnabled;
}

int cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  DLC_FAKE_ENTER_CONTEXT(cuMemsetD8Async)
  CUstream_st *queue = find(driver.streams, stream);
  char *target = bytesOf(context, to, bytes);
  if (!queue || !target)
    return queue ? kInvalidValue : kInvalidHandle;
  return driver.submit(*queue, [=] {
    std::memset(target, value, bytes);
    return int(kSuccess);
  });
}

int cuStreamCreate(CUstream *stream, unsigned flags) {
  DLC_FAKE_ENTER_CONTEXT(cuStreamCreate)
  if (flags != kStreamNonBlocking)
    return kInvalidValue; // the default stream's order is not simulated
  std::lock_guard guard(driver.lock);
  auto made = std::make_unique<CUstream_st>(CUstream_st{context, driver.schedule().open(), {}, false});
  *stream = made.get();
  driver.streams.emplace(*stream, std::move(made));
  return kSuccess;
}

int cuStreamDestroy_v2(CUstream stream) {
  DLC_FAKE_ENTER_CONTEXT(cuStreamDestroy)
  CUstream_st *known = find(driver.streams, stream);
  if (!known)
    return kInvalidHandle;
  driver.schedule().close(known->queue);
  std::lock_guard guard(driver.lock);
  driver.streams.erase(stream);
  return kSuccess;
}

int cuStreamSynchronize(CUstream stream) {
  DLC_FAKE_ENTER_CONTEXT(cuStreamSynchronize)
  CUstream_st *known = find(driver.streams, stream);
  if (!known)
    return kInvalidHandle;
  if (invalidates(known->capture))
    return kCaptureUnsupported;
  driver.schedule().reach(driver.schedule().mark(known->queue));
  return context->failure;
}

int cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  DLC_FAKE_ENTER_CONTEXT(cuStreamWaitEvent)
  CUstream_st *queue = find(driver.streams, stream);
  CUevent_st *known = find(driver.events, event);
  if (!queue || !known)
    return kInvalidHandle;
  if (queue->capture.graph || known->capture.graph)
    return joinCapture(*queue, *known);
  driver.schedule().wait(queue->queue, known->point);
  return context->failure;
}

int cuEventCreate(CUevent *event, unsigned) {
  DLC_FAKE_ENTER_CONTEXT(cuEventCreate)
  std::lock_guard guard(driver.lock);
  auto made = std::make_unique<CUevent_st>(CUevent_st{context, {}, {}});
  *event = made.get();
  driver.events.emplace(*event, std::move(made));
  return kSuccess;
}

int cuEventDestroy_v2(CUevent event) {
  DLC_FAKE_ENTER_CONTEXT(cuEventDestroy)
  std::lock_guard guard(driver.lock);
  return driver.events.erase(event) ? kSuccess : kInvalidHandle;
}

int cuEventRecord(CUevent event, CUstream stream) {
  DLC_FAKE_ENTER_CONTEXT(cuEventRecord)
  CUstream_st *queue = find(driver.streams, stream);
  CUevent_st *known = find(driver.events, event);
  if (!queue || !known || known->context != queue->context)
    return kInvalidHandle;
  known->capture = queue->capture;
  if (!queue->capture.graph)
    known->point = driver.schedule().mark(queue->queue);
  return context->failure;
}

int cuEventQuery(CUevent event) {
  DLC_FAKE_ENTER_CONTEXT(cuEventQuery)
  CUevent_st *known = find(driver.events, event);
  if (!known)
    return kInvalidHandle;
  if (invalidates(known->capture))
    return kCaptureUnsupported;
  bool reached = driver.schedule().approach(known->point);
  if (int failure = context->failure)
    return failure;
  return reached ? kSuccess : kNotReady;
}

int cuEventSynchronize(CUevent event) {
  DLC_FAKE_ENTER_CONTEXT(cuEventSynchronize)
  CUevent_st *known = find(driver.events, event);
  if (!known)
    return kInvalidHandle;
  if (invalidates(known->capture))
    return kCaptureUnsupported;
  driver.schedule().reach(known->point);
  return context->failure;
}

} // extern "C"
