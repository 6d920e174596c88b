#pragma once

#include "dlc/runtime/Device.h"
#include "drivers/Reservations.h"
#include "drivers/cuda/CudaApi.h"
#include "drivers/cuda/CudaLibraries.h"
#include "drivers/cuda/LaunchLog.h"

#include <map>

namespace dlc::runtime {

/// An NVIDIA GPU, by the CUDA driver and the device's primary context, which the vendor's libraries use as well.
class CudaDevice : public Device {
public:
  static StatusOr<std::unique_ptr<Device>> open(const CudaApi &api, int index);
  ~CudaDevice() override;

  std::string description() const override;
  int64_t memoryBytes() const override { return int64_t(facts.bytes); }
  std::vector<std::string> compileTargets() const override;
  std::vector<std::string> libraries() const override { return CudaLibraries::found(); }
  StatusOr<std::unique_ptr<Stream>> createStream() override;
  StatusOr<std::unique_ptr<Event>> createEvent() override;
  StatusOr<std::unique_ptr<Kernels>> load(std::shared_ptr<const Executable> executable) override;
  StatusOr<HostMemory> allocateHost(int64_t bytes) override;

  // What its streams, events and kernels use.

  const CudaApi &api() const { return api_; }
  const Reservations &memory() const { return memory_; }
  LaunchLog &launches() { return launches_; }
  CudaLibraries &vendorLibraries() { return libraries_; }
  int capability() const { return facts.capability; } ///< 90 of sm_90
  bool waitsForEachKernel() const { return synchronous; }
  bool usesGraphs() const { return graphs; }
  using Device::check;

  /// At the start of every call: fails as the device did, else makes it the thread's.
  Status enter() const;
  /// The same to give something back, which is tried on a failed device too: a copy to the host may still run.
  void enterToEnd();
  /// The Status of a driver's result; one that ends the device names the kernels it can come from.
  Status done(int result, std::string_view function);
  /// The Status of a library's call that failed: an earlier kernel's failure comes back through libraries, too.
  Status libraryFailed(const Status &status);
  /// The same where nobody is told: the device has failed, if it had not before.
  void ended(int result, std::string_view function);
  /// Waits for all work, before something it may use is given back.
  void waitForAll();
  /// Lets this device read the other's memory where the hardware can; the driver copies over the host where it cannot.
  Status reach(CudaDevice &other);
  CUcontext primaryContext() const { return context; }
  /// Held while a stream is captured: waiting for all work would end that.
  std::unique_lock<std::recursive_mutex> holdCapture() { return std::unique_lock(capture); }

protected:
  StatusOr<Block> reserve(std::string_view name, int64_t bytes) override;
  void release(const Block &block) override;
  Status restart() override;

private:
  struct Facts {
    CUdevice device = 0;
    std::string name;
    size_t bytes = 0;
    int capability = 0, multiprocessors = 0;
  };
  CudaDevice(const CudaApi &api, int index, Facts facts, CUcontext context, bool synchronous, bool graphs);
  static Status describe(const CudaApi &api, Facts &facts);
  Status exhausted(std::string_view name, int64_t bytes);
  std::string otherPrograms() const;

  const CudaApi &api_;
  Facts facts;
  CUcontext context;
  bool synchronous, graphs;
  Reservations memory_;
  LaunchLog launches_;
  CudaLibraries libraries_;
  std::recursive_mutex capture;
  std::mutex peersLock;
  std::map<const CudaDevice *, int> peers; ///< asked already, and at which of their restarts
  std::atomic<int> restarts{0};
};

} // namespace dlc::runtime
