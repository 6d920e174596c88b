#include "drivers/sim/SimStream.h"

#include "drivers/Driver.h"

#include <cstring>

namespace dlc::runtime {

SimSchedule::Point SimEvent::point() const {
  std::lock_guard guard(lock);
  return point_;
}

void SimEvent::set(SimSchedule::Point point) {
  std::lock_guard guard(lock);
  point_ = std::move(point);
}

StatusOr<bool> SimEvent::query() {
  bool reached = device.schedule().approach(point());
  if (Status status = device.check(); !status.ok())
    return status;
  return reached;
}

Status SimEvent::synchronize() {
  device.schedule().reach(point());
  return device.check();
}

StatusOr<SimEvent *> SimStream::own(Event &event) const {
  if (Status status = device.check(); !status.ok())
    return status;
  auto *known = dynamic_cast<SimEvent *>(&event);
  if (!known || &known->device != &device)
    return Status(StatusCode::InvalidInput, device.id().str() + ": expected an event of this device, got another's");
  return known;
}

StatusOr<char *> SimStream::bytesOf(const void *address, int64_t bytes, std::string_view what) const {
  if (Status status = device.check(); !status.ok())
    return status;
  if (bytes < 0)
    return Status(StatusCode::InvalidInput,
                  device.id().str() + ": expected a number of bytes, got " + std::to_string(bytes));
  if (bytes == 0)
    return StatusOr<char *>(nullptr);
  StatusOr<char *> found = device.memory().translate(address, bytes);
  if (!found.ok())
    return found.status().withContext(device.id().str() + ": " + std::string(what));
  return found;
}

Status SimStream::copyToDevice(void *to, const void *from, int64_t bytes) {
  StatusOr<char *> target = bytesOf(to, bytes, "the target of a copy");
  if (!target.ok() || bytes == 0)
    return target.status();
  return submit([&device = device, target = *target, from, bytes] {
    std::memcpy(target, from, size_t(bytes));
    device.note([&](GlobalShadow &shadow) { shadow.markWritten(target, size_t(bytes)); });
    return Status();
  });
}

Status SimStream::copyToHost(void *to, const void *from, int64_t bytes) {
  StatusOr<char *> source = bytesOf(from, bytes, "the source of a copy");
  if (!source.ok() || bytes == 0)
    return source.status();
  return submit([source = *source, to, bytes] {
    std::memcpy(to, source, size_t(bytes));
    return Status();
  });
}

Status SimStream::copy(void *to, const void *from, int64_t bytes) {
  StatusOr<char *> target = bytesOf(to, bytes, "the target of a copy");
  StatusOr<char *> source = target.ok() ? bytesOf(from, bytes, "the source of a copy") : target;
  if (!source.ok())
    return source.status();
  if (overlapPartly(to, from, bytes))
    return overlapping(device.id(), bytes);
  if (bytes == 0 || to == from)
    return {};
  return submit([&device = device, target = *target, source = *source, bytes] {
    std::memcpy(target, source, size_t(bytes));
    device.note([&](GlobalShadow &shadow) { shadow.copyMarks(target, source, size_t(bytes)); });
    return Status();
  });
}

Status SimStream::fill(void *to, uint8_t value, int64_t bytes) {
  StatusOr<char *> target = bytesOf(to, bytes, "what to fill");
  if (!target.ok() || bytes == 0)
    return target.status();
  return submit([&device = device, target = *target, value, bytes] {
    std::memset(target, value, size_t(bytes));
    device.note([&](GlobalShadow &shadow) { shadow.markWritten(target, size_t(bytes)); });
    return Status();
  });
}

Status SimStream::discard(void *what, int64_t bytes) {
  StatusOr<char *> target = bytesOf(what, bytes, "what to discard");
  if (!target.ok() || bytes == 0 || !device.checksAccesses())
    return target.status();
  return submit([&device = device, target = *target, bytes] {
    std::memset(target, SimMemory::kNobodyWrote, size_t(bytes));
    device.note([&](GlobalShadow &shadow) { shadow.markUnwritten(target, size_t(bytes)); });
    return Status();
  });
}

Status SimStream::record(Event &event) {
  StatusOr<SimEvent *> known = own(event);
  if (!known.ok())
    return known.status();
  (*known)->set(device.schedule().mark(queue));
  return {};
}

Status SimStream::wait(Event &event) {
  StatusOr<SimEvent *> known = own(event);
  if (!known.ok())
    return known.status();
  device.schedule().wait(queue, (*known)->point());
  return device.check();
}

Status SimStream::synchronize() {
  device.schedule().reach(device.schedule().mark(queue));
  return device.check();
}

} // namespace dlc::runtime
