#pragma once

#include "dlc/runtime/Stream.h"
#include "drivers/sim/SimDevice.h"

namespace dlc::runtime {

class SimEvent : public Event {
public:
  explicit SimEvent(SimDevice &device) : device(device) {}
  StatusOr<bool> query() override;
  Status synchronize() override;

private:
  friend class SimStream;
  SimSchedule::Point point() const;
  void set(SimSchedule::Point point);

  SimDevice &device;
  mutable std::mutex lock;
  SimSchedule::Point point_;
};

class SimStream : public Stream {
public:
  explicit SimStream(SimDevice &device) : device(device), queue(device.schedule().open()) {}
  ~SimStream() override { device.schedule().close(queue); }

  Status copyToDevice(void *to, const void *from, int64_t bytes) override;
  Status copyToHost(void *to, const void *from, int64_t bytes) override;
  Status copy(void *to, const void *from, int64_t bytes) override;
  Status fill(void *to, uint8_t value, int64_t bytes) override;
  Status discard(void *what, int64_t bytes) override;
  Status record(Event &event) override;
  Status wait(Event &event) override;
  Status synchronize() override;

  /// For kernels of the same device.
  Status submit(std::function<Status()> work) { return device.submit(queue, std::move(work)); }
  bool belongsTo(const SimDevice &other) const { return &device == &other; }

private:
  StatusOr<SimEvent *> own(Event &event) const;
  /// Checks the call and gives the bytes behind an address of the device.
  StatusOr<char *> bytesOf(const void *address, int64_t bytes, std::string_view what) const;

  SimDevice &device;
  std::shared_ptr<SimSchedule::Queue> queue;
};

} // namespace dlc::runtime
