#pragma once

#include "dlc/runtime/Stream.h"
#include "drivers/cuda/CudaDevice.h"

#include <mutex>

namespace dlc::runtime {

class CudaEvent : public Event {
public:
  CudaEvent(CudaDevice &device, CUevent handle) : device(device), handle(handle) {}
  ~CudaEvent() override;
  StatusOr<bool> query() override;
  Status synchronize() override;

private:
  friend class CudaStream;
  CudaDevice &device;
  CUevent handle;
};

class CudaGraph : public Graph {
public:
  CudaGraph(CudaDevice &device, CUgraphExec handle, LaunchLog::Span launches)
      : device(device), handle(handle), launches(std::move(launches)) {}
  ~CudaGraph() override;

private:
  friend class CudaStream;
  CudaDevice &device;
  CUgraphExec handle;
  LaunchLog::Span launches;
};

class CudaStream : public Stream {
public:
  CudaStream(CudaDevice &device, CUstream handle) : device(device), handle(handle) {}
  ~CudaStream() override;

  Status copyToDevice(void *to, const void *from, int64_t bytes) override;
  Status copyToHost(void *to, const void *from, int64_t bytes) override;
  Status copy(void *to, const void *from, int64_t bytes) override;
  StatusOr<bool> copyFrom(Stream &there, void *to, const void *from, int64_t bytes) override;
  Status fill(void *to, uint8_t value, int64_t bytes) override;
  Status record(Event &event) override;
  Status wait(Event &event) override;
  StatusOr<std::unique_ptr<Graph>> capture(const std::function<Status()> &give) override;
  Status launch(Graph &graph) override;
  Status synchronize() override;
  Status waitFor(Event &event) override;
  void waitBy(const Waiting &waiting) override;

  /// For kernels of the same device.
  CUstream get() const { return handle; }
  std::unique_lock<std::recursive_mutex> hold() const { return std::unique_lock(lock); }
  bool belongsTo(const CudaDevice &other) const { return &device == &other; }

private:
  /// Where work needs others: waits for it, and after a failure until nothing runs any more, at most a second.
  Status waitForOthers();
  StatusOr<CUgraph> note(const std::function<Status()> &give);
  StatusOr<CudaEvent *> own(Event &event) const;
  /// Checks a range of the device's memory; true: there is work to give.
  StatusOr<bool> ready(const void *address, int64_t bytes, std::string_view what) const;

  /// Work given to this stream from now on comes after what `there` has now.
  Status follow(CudaStream &there);

  CudaDevice &device;
  CUstream handle;
  std::unique_ptr<Event> reached; ///< of this stream, for others; made on use
  Waiting waiting() const;
  mutable std::mutex waitingLock; ///< not the stream's, which who waits may hold
  Waiting waiting_;               ///< null: work needs the device alone
  std::unique_ptr<Event> last_;   ///< of waitForOthers
  bool hangs = false;             ///< work never ended
  /// Held while a graph is captured, so that no other thread's work gets into it.
  mutable std::recursive_mutex lock;
};

} // namespace dlc::runtime
