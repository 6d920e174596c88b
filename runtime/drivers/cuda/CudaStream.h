#pragma once

#include "dlc/runtime/Stream.h"
#include "drivers/cuda/CudaDevice.h"

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

class CudaStream : public Stream {
public:
  CudaStream(CudaDevice &device, CUstream handle) : device(device), handle(handle) {}
  ~CudaStream() override;

  Status copyToDevice(void *to, const void *from, int64_t bytes) override;
  Status copyToHost(void *to, const void *from, int64_t bytes) override;
  Status copy(void *to, const void *from, int64_t bytes) override;
  Status fill(void *to, uint8_t value, int64_t bytes) override;
  Status record(Event &event) override;
  Status wait(Event &event) override;
  Status synchronize() override;

  /// For kernels of the same device.
  CUstream get() const { return handle; }
  bool belongsTo(const CudaDevice &other) const { return &device == &other; }

private:
  StatusOr<CudaEvent *> own(Event &event) const;
  /// Checks a range of the device's memory; true: there is work to give.
  StatusOr<bool> ready(const void *address, int64_t bytes, std::string_view what) const;

  CudaDevice &device;
  CUstream handle;
};

} // namespace dlc::runtime
