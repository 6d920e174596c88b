#include "drivers/cuda/CudaDevice.h"

#include "drivers/cuda/CudaStream.h"
#include "drivers/cuda/Nvml.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <ranges>
#include <unistd.h>

namespace dlc::runtime {

namespace {

// 0 or 1.
StatusOr<bool> flagFromEnvironment(const char *variable, bool otherwise) {
  const char *text = std::getenv(variable);
  if (!text || !*text)
    return otherwise;
  std::string_view value = text;
  if (value != "0" && value != "1")
    return Status(StatusCode::InvalidInput, std::string(variable) + ": expected 0 or 1, got '" + text + "'");
  return value == "1";
}

} // namespace

Status CudaDevice::describe(const CudaApi &api, Facts &facts) {
  char name[256] = {};
  if (int result = api.cuDeviceGetName(name, sizeof name, facts.device))
    return api.status(result, "cuDeviceGetName");
  facts.name = name;
  if (int result = api.cuDeviceTotalMem(&facts.bytes, facts.device))
    return api.status(result, "cuDeviceTotalMem");
  int major = 0, minor = 0;
  for (auto [value, attribute] : {std::pair{&major, kCapabilityMajor}, std::pair{&minor, kCapabilityMinor},
                                  std::pair{&facts.multiprocessors, kMultiprocessors}})
    if (int result = api.cuDeviceGetAttribute(value, attribute, facts.device))
      return api.status(result, "cuDeviceGetAttribute");
  facts.capability = 10 * major + minor;
  return {};
}

// The caller adds the device's name to what fails here.
StatusOr<std::unique_ptr<Device>> CudaDevice::open(const CudaApi &api, int index) {
  StatusOr<bool> synchronous = flagFromEnvironment("DLC_CUDA_SYNC", false);
  StatusOr<bool> graphs = flagFromEnvironment("DLC_CUDA_GRAPHS", true);
  for (const Status &status : {synchronous.status(), graphs.status()})
    if (!status.ok())
      return status;
  Facts facts;
  if (int result = api.cuDeviceGet(&facts.device, index))
    return api.status(result, "cuDeviceGet");
  if (Status status = describe(api, facts); !status.ok())
    return status;
  CUcontext context = nullptr;
  if (int result = api.cuDevicePrimaryCtxRetain(&context, facts.device))
    return api.status(result, "cuDevicePrimaryCtxRetain");
  return std::unique_ptr<Device>(new CudaDevice(api, index, std::move(facts), context, *synchronous, *graphs));
}

CudaDevice::CudaDevice(const CudaApi &api, int index, Facts facts, CUcontext context, bool synchronous, bool graphs)
    : Device({"cuda", index}), api_(api), facts(std::move(facts)), context(context), synchronous(synchronous),
      graphs(graphs && !synchronous) {}

CudaDevice::~CudaDevice() { (void)api_.cuDevicePrimaryCtxRelease(facts.device); }

std::string CudaDevice::description() const {
  return facts.name + ", " + std::to_string(facts.multiprocessors) + " multiprocessors, sm_" +
         std::to_string(facts.capability);
}

std::vector<std::string> CudaDevice::compileTargets() const {
  // What the compiler knows; newer devices run the code of the nearest older one.
  constexpr int kKnown[] = {100, 90, 80};
  const int *known = std::find_if(std::begin(kKnown), std::end(kKnown) - 1,
                                  [this](int capability) { return capability <= facts.capability; });
  std::vector<std::string> targets = {"cuda:sm_" + std::to_string(*known)};
  if (api_.replaced)
    targets.emplace_back("sim");
  return targets;
}

Status CudaDevice::enter() const {
  if (Status status = check(); !status.ok())
    return status;
  return api_.status(api_.cuCtxSetCurrent(context), "cuCtxSetCurrent").withContext(id().str());
}

void CudaDevice::enterToEnd() { ended(api_.cuCtxSetCurrent(context), "cuCtxSetCurrent"); }

void CudaDevice::waitForAll() {
  auto held = holdCapture();
  ended(api_.cuCtxSynchronize(), "cuCtxSynchronize");
}

Status CudaDevice::done(int result, std::string_view function) {
  if (result == kSuccess)
    return {};
  Status status = api_.status(result, function);
  if (!endsDevice(result))
    return status.withContext(id().str());
  if (std::string suspects = launches_.suspects(); !suspects.empty())
    status = status.withContext(suspects);
  return fail(status.withContext(id().str()));
}

Status CudaDevice::libraryFailed(const Status &status) {
  size_t free = 0, total = 0;
  // Any call tells; this one does nothing else.
  int result = api_.cuMemGetInfo(&free, &total);
  return endsDevice(result) ? done(result, "a library's call") : status.withContext(id().str());
}

void CudaDevice::ended(int result, std::string_view function) {
  if (Status status = done(result, function); !status.ok())
    (void)fail(std::move(status));
}

Status CudaDevice::reach(CudaDevice &other) {
  std::lock_guard guard(peersLock);
  int restart = other.restarts;
  if (auto known = peers.find(&other); &other == this || (known != peers.end() && known->second == restart))
    return {};
  int can = 0;
  if (Status status = done(api_.cuDeviceCanAccessPeer(&can, facts.device, other.facts.device), "cuDeviceCanAccessPeer");
      !status.ok())
    return status;
  int result = can ? api_.cuCtxEnablePeerAccess(other.context, 0) : int(kSuccess);
  if (result != kPeerAccessAlreadyEnabled)
    if (Status status = done(result, "cuCtxEnablePeerAccess"); !status.ok())
      return status;
  peers[&other] = restart;
  return {};
}

StatusOr<std::unique_ptr<Stream>> CudaDevice::createStream() {
  if (Status status = enter(); !status.ok())
    return status;
  CUstream handle = nullptr;
  if (Status status = done(api_.cuStreamCreate(&handle, kStreamNonBlocking), "cuStreamCreate"); !status.ok())
    return status;
  return std::unique_ptr<Stream>(new CudaStream(*this, handle));
}

StatusOr<std::unique_ptr<Event>> CudaDevice::createEvent() {
  if (Status status = enter(); !status.ok())
    return status;
  CUevent handle = nullptr;
  if (Status status = done(api_.cuEventCreate(&handle, kEventDisableTiming), "cuEventCreate"); !status.ok())
    return status;
  return std::unique_ptr<Event>(new CudaEvent(*this, handle));
}

/// " (python3, pid 4711: 8000000000)": who has memory of the device, the most first, as far as the system tells.
std::string CudaDevice::otherPrograms() const {
  constexpr size_t kMost = 3;
  char address[32] = {};
  if (api_.cuDeviceGetPCIBusId(address, sizeof address, facts.device) != kSuccess)
    return "";
  StatusOr<std::unique_ptr<UseProbe>> probe = nvml::watch();
  StatusOr<std::vector<DeviceUse>> uses = probe.ok() ? (*probe)->sample() : probe.status();
  if (!uses.ok())
    return "";
  auto isThis = [&](const DeviceUse &use) { return use.address.ends_with(address); };
  auto use = std::find_if(uses->begin(), uses->end(), isThis);
  if (use == uses->end())
    return "";
  std::vector<DeviceUse::Process> &processes = use->processes;
  std::erase_if(processes, [](const DeviceUse::Process &process) { return process.pid == getpid(); });
  std::sort(processes.begin(), processes.end(), [](auto &a, auto &b) { return a.bytes > b.bytes; });
  std::string text;
  for (const DeviceUse::Process &process : processes | std::views::take(kMost))
    text += (text.empty() ? " (" : "; ") + process.name + (process.name.empty() ? "" : ", ") + "pid " +
            std::to_string(process.pid) + (process.bytes ? ": " + std::to_string(*process.bytes) : "");
  return text.empty() ? "" : text + ")";
}

Status CudaDevice::exhausted(std::string_view name, int64_t bytes) {
  std::string message = "out of memory: arena '" + std::string(name) + "' needs " + std::to_string(bytes) + " bytes, " +
                        id().str() + " has ";
  size_t free = 0, total = 0;
  if (api_.cuMemGetInfo(&free, &total) != kSuccess)
    return {StatusCode::LimitExceeded, message + "too little of its " + std::to_string(facts.bytes) + " left"};
  MemoryStats own = memoryStats();
  int64_t others = int64_t(total - free) - own.reserved;
  return {StatusCode::LimitExceeded, message + std::to_string(free) + " of its " + std::to_string(total) +
                                         " left: this program's " + std::to_string(own.count) + " arenas take " +
                                         std::to_string(own.reserved) + ", the driver and other programs " +
                                         std::to_string(others > 0 ? others : 0) + otherPrograms()};
}

StatusOr<Device::Block> CudaDevice::reserve(std::string_view name, int64_t bytes) {
  if (Status status = enter(); !status.ok())
    return status;
  CUdeviceptr address = 0;
  int result = api_.cuMemAlloc(&address, size_t(bytes));
  if (result == kOutOfMemory)
    return exhausted(name, bytes);
  if (Status status = done(result, "cuMemAlloc"); !status.ok())
    return status;
  constexpr int64_t kGrain = 512;
  Block block{std::bit_cast<char *>(address), (bytes + kGrain - 1) / kGrain * kGrain};
  memory_.add(block.base, std::string(name), bytes);
  return block;
}

StatusOr<HostMemory> CudaDevice::allocateHost(int64_t bytes) {
  if (Status status = enter(); !status.ok())
    return status;
  void *memory = nullptr;
  int result = api_.cuMemHostAlloc(&memory, size_t(bytes), 0);
  if (result == kOutOfMemory)
    return Status(StatusCode::LimitExceeded, "out of memory: the host cannot lock " + std::to_string(bytes) +
                                                 " bytes for copies of " + id().str());
  if (Status status = done(result, "cuMemHostAlloc"); !status.ok())
    return status;
  return HostMemory(static_cast<char *>(memory), [this](char *data) {
    enterToEnd();
    ended(api_.cuMemFreeHost(data), "cuMemFreeHost");
  });
}

void CudaDevice::release(const Block &block) {
  memory_.remove(block.base);
  enterToEnd();
  waitForAll();
  ended(api_.cuMemFree(reinterpret_cast<CUdeviceptr>(block.base)), "cuMemFree");
}

// The driver lets go of everything in the context; after some failures only a new process helps, and it says so.
Status CudaDevice::restart() {
  launches_.clear();
  {
    std::lock_guard guard(peersLock);
    peers.clear();
  }
  if (int result = api_.cuDevicePrimaryCtxReset(facts.device))
    return api_.status(result, "cuDevicePrimaryCtxReset").withContext(id().str());
  (void)api_.cuDevicePrimaryCtxRelease(facts.device);
  if (int result = api_.cuDevicePrimaryCtxRetain(&context, facts.device))
    return api_.status(result, "cuDevicePrimaryCtxRetain").withContext(id().str());
  ++restarts; // others ask again for access to it
  return {};
}

} // namespace dlc::runtime
