#include "FakeDriver.h"

#include "drivers/sim/SimDevice.h"
#include "memory/Pages.h"

#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

using namespace dlc;
using namespace dlc::runtime;

namespace dlc::fakegpu {

thread_local CUctx_st *current = nullptr;

namespace {

int64_t numberFrom(const char *variable, int64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoll(text, nullptr, 10) : otherwise;
}

/// DLCFAKE_FAIL taken apart.
struct Failure {
  std::string_view function;
  int64_t call = 0;
  int result = 0;

  Failure(std::string_view text, int otherwise) : result(otherwise) {
    size_t colon = text.find(':');
    function = text.substr(0, colon);
    const char *end = text.data() + text.size();
    if (colon == std::string_view::npos)
      return;
    auto [stop, error] = std::from_chars(text.data() + colon + 1, end, call);
    if (error == std::errc() && stop != end)
      std::from_chars(stop + 1, end, result);
  }
};

template <typename Handles>
void eraseOf(Handles &handles, const CUctx_st &context) {
  std::erase_if(handles, [&](const auto &each) { return each.second->context == &context; });
}

} // namespace

FakeDriver::FakeDriver() {
  if (numberFrom("DLCFAKE_LEAKS", 0))
    std::atexit([] { FakeDriver::get().reportAlive(); });
  if (std::getenv("DLCFAKE_COUNT"))
    std::atexit([] { FakeDriver::get().reportCalls(); });
}

FakeDriver &FakeDriver::get() {
  static FakeDriver &driver = *new FakeDriver;
  return driver;
}

int FakeDriver::failing(const char *function, int otherwise) {
  std::lock_guard guard(lock);
  if (const char *counted = std::getenv("DLCFAKE_COUNT"); counted && std::string_view(counted) == function)
    ++callsCounted;
  const char *text = std::getenv("DLCFAKE_FAIL");
  if (!text || !*text)
    return kSuccess;
  if (failure != text) {
    failure = text;
    callsOfFailing = 0;
  }
  Failure wanted(failure, otherwise);
  if (wanted.function != function || ++callsOfFailing != wanted.call)
    return kSuccess;
  if (current && endsDevice(wanted.result))
    current->failure = wanted.result;
  return wanted.result;
}

int FakeDriver::enter(const char *function) {
  if (int result = failing(function, kOperatingSystem))
    return result;
  std::lock_guard guard(lock);
  return ready || std::string_view(function) == "cuInit" ? kSuccess : kNotInitialized;
}

int FakeDriver::context(CUctx_st *&out) {
  out = current;
  return current ? current->failure.load() : int(kInvalidContext);
}

int FakeDriver::initialize() {
  std::lock_guard guard(lock);
  if (ready)
    return kSuccess;
  StatusOr<SimDeviceOptions> options = SimDeviceOptions::fromEnvironment();
  if (!options.ok()) {
    std::fprintf(stderr, "fakegpu: %s\n", options.status().message().c_str());
    return kInvalidValue;
  }
  schedule_ = std::make_unique<SimSchedule>(options->late);
  auto count = size_t(numberFrom("DLCFAKE_DEVICES", 1));
  retained.resize(count);
  for (size_t i = 0; i < count; ++i) {
    CUctx_st &device = *devices_.emplace_back(std::make_unique<CUctx_st>());
    device.index = int(i);
    device.memory =
        std::make_unique<SimMemory>(DeviceId{"fake", int(i)}, numberFrom("DLCFAKE_MEMORY", Pages::installedBytes()));
  }
  ready = true;
  return kSuccess;
}

int FakeDriver::submit(CUstream_st &stream, std::function<int()> work, std::function<bool()> ready) {
  if (CUgraph_st *graph = stream.capture.graph) {
    if (ready)
      return kNotSupported;
    std::lock_guard guard(lock);
    graph->nodes.push_back({std::move(work), stream.capture.after, {}});
    stream.capture.after = {graph->nodes.size() - 1};
    return kSuccess;
  }
  CUctx_st *context = stream.context;
  auto run = [context, work = std::move(work)] {
    if (context->failure != kSuccess)
      return;
    if (int result = work())
      context->failure = result;
  };
  if (ready)
    schedule_->submit(stream.queue, run,
                      [context, ready = std::move(ready)] { return context->failure != kSuccess || ready(); });
  else
    schedule_->submit(stream.queue, run);
  return kSuccess;
}

void FakeDriver::noteGiver(CUstream_st &stream, std::function<void(CUstream_st &)> give) {
  std::lock_guard guard(lock);
  CUgraph_st *graph = stream.capture.graph;
  graph->nodes.push_back({{}, stream.capture.after, std::move(give)});
  stream.capture.after = {graph->nodes.size() - 1};
}

int deviceOfHost(int index) {
  const char *list = std::getenv("CUDA_VISIBLE_DEVICES");
  for (int left = index; list && *list && left > 0; --left) {
    const char *comma = std::strchr(list, ',');
    list = comma ? comma + 1 : nullptr;
  }
  return list && *list ? int(std::strtol(list, nullptr, 10)) : index;
}

void FakeDriver::retain(int device) {
  std::lock_guard guard(lock);
  ++retained[size_t(device)];
}

int FakeDriver::release(int device) {
  {
    std::lock_guard guard(lock);
    if (retained[size_t(device)] == 0)
      return kInvalidContext;
    if (--retained[size_t(device)] > 0)
      return kSuccess;
  }
  return reset(device);
}

int FakeDriver::reset(int device) {
  devices_[size_t(device)]->failure = kContextDestroyed; // what waits is dropped
  schedule_->finish();
  std::lock_guard guard(lock);
  forget(*devices_[size_t(device)]);
  return kSuccess;
}

void FakeDriver::forget(CUctx_st &context) {
  for (auto &[handle, stream] : streams)
    if (stream->context == &context)
      schedule_->close(stream->queue);
  eraseOf(streams, context);
  eraseOf(events, context);
  eraseOf(modules, context);
  eraseOf(graphs, context);
  eraseOf(executables, context);
  for (const auto &[address, bytes] : context.allocations)
    context.memory->release(std::bit_cast<const char *>(address));
  context.allocations.clear();
  context.locked.clear();
  context.peers.clear();
  context.failure = kSuccess;
}

void FakeDriver::reportCalls() const {
  std::fprintf(stderr, "fakegpu: %s: %lld calls\n", std::getenv("DLCFAKE_COUNT"), static_cast<long long>(callsCounted));
}

void FakeDriver::reportAlive() const {
  size_t allocations = 0;
  for (const auto &device : devices_)
    allocations += device->allocations.size() + device->locked.size();
  std::fprintf(stderr,
               "fakegpu: alive: %zu allocations, %zu streams, %zu events, %zu modules, %zu graphs, %zu communicators, "
               "%zu handles, %zu descriptors\n",
               allocations, streams.size(), events.size(), modules.size(), graphs.size() + executables.size(),
               communicatorsAlive(), cublasLtHandlesAlive() + cudnnHandlesAlive(),
               cublasLtDescriptorsAlive() + cudnnDescriptorsAlive());
}

} // namespace dlc::fakegpu
