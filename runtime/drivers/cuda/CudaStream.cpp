#include "drivers/cuda/CudaStream.h"

#include "drivers/Driver.h"

#include <chrono>
#include <thread>

namespace dlc::runtime {

namespace {

CUdeviceptr addressOf(const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

} // namespace

CudaEvent::~CudaEvent() {
  device.enterToEnd();
  device.ended(device.api().cuEventDestroy(handle), "cuEventDestroy");
}

StatusOr<bool> CudaEvent::query() {
  if (Status status = device.enter(); !status.ok())
    return status;
  int result = device.api().cuEventQuery(handle);
  if (result == kNotReady)
    return false;
  if (Status status = device.done(result, "cuEventQuery"); !status.ok())
    return status;
  return true;
}

Status CudaEvent::synchronize() {
  if (Status status = device.enter(); !status.ok())
    return status;
  return device.done(device.api().cuEventSynchronize(handle), "cuEventSynchronize");
}

CudaStream::~CudaStream() {
  (void)waitForOthers();
  last_.reset();
  device.enterToEnd();
  if (!hangs)
    device.ended(device.api().cuStreamSynchronize(handle), "cuStreamSynchronize");
  device.ended(device.api().cuStreamDestroy(handle), "cuStreamDestroy");
  device.launches().done(handle);
}

StatusOr<CudaEvent *> CudaStream::own(Event &event) const {
  if (Status status = device.enter(); !status.ok())
    return status;
  auto *known = dynamic_cast<CudaEvent *>(&event);
  if (!known || &known->device != &device)
    return Status(StatusCode::InvalidInput, device.id().str() + ": expected an event of this device, got another's");
  return known;
}

StatusOr<bool> CudaStream::ready(const void *address, int64_t bytes, std::string_view what) const {
  if (Status status = device.enter(); !status.ok())
    return status;
  if (bytes < 0)
    return Status(StatusCode::InvalidInput,
                  device.id().str() + ": expected a number of bytes, got " + std::to_string(bytes));
  if (bytes == 0)
    return false;
  if (Status status = device.memory().check(address, bytes); !status.ok())
    return status.withContext(device.id().str() + ": " + std::string(what));
  return true;
}

Status CudaStream::copyToDevice(void *to, const void *from, int64_t bytes) {
  auto held = hold();
  StatusOr<bool> go = ready(to, bytes, "the target of a copy");
  if (!go.ok() || !*go)
    return go.status();
  return device.done(device.api().cuMemcpyHtoDAsync(addressOf(to), from, size_t(bytes), handle), "cuMemcpyHtoDAsync");
}

Status CudaStream::copyToHost(void *to, const void *from, int64_t bytes) {
  auto held = hold();
  StatusOr<bool> go = ready(from, bytes, "the source of a copy");
  if (!go.ok() || !*go)
    return go.status();
  // Into memory that is not page-locked the driver copies before it returns, however long others let it wait.
  if (Status status = waitForOthers(); !status.ok())
    return status;
  return device.done(device.api().cuMemcpyDtoHAsync(to, addressOf(from), size_t(bytes), handle), "cuMemcpyDtoHAsync");
}

Status CudaStream::copy(void *to, const void *from, int64_t bytes) {
  auto held = hold();
  StatusOr<bool> go = ready(to, bytes, "the target of a copy");
  if (go.ok() && *go)
    go = ready(from, bytes, "the source of a copy");
  if (!go.ok())
    return go.status();
  if (overlapPartly(to, from, bytes))
    return overlapping(device.id(), bytes);
  if (!*go || to == from)
    return {};
  return device.done(device.api().cuMemcpyDtoDAsync(addressOf(to), addressOf(from), size_t(bytes), handle),
                     "cuMemcpyDtoDAsync");
}

Status CudaStream::follow(CudaStream &there) {
  if (!there.reached) {
    StatusOr<std::unique_ptr<Event>> made = there.device.createEvent();
    if (!made.ok())
      return made.status();
    there.reached = made.take();
  }
  if (Status status = there.record(*there.reached); !status.ok())
    return status;
  if (Status status = device.enter(); !status.ok())
    return status;
  auto &mark = static_cast<CudaEvent &>(*there.reached);
  return device.done(device.api().cuStreamWaitEvent(handle, mark.handle, 0), "cuStreamWaitEvent");
}

StatusOr<bool> CudaStream::copyFrom(Stream &there, void *to, const void *from, int64_t bytes) {
  auto *other = dynamic_cast<CudaStream *>(&there);
  if (!other)
    return false;
  std::scoped_lock held(lock, other->lock);
  StatusOr<bool> go = other->ready(from, bytes, "the source of a copy");
  if (go.ok() && *go)
    go = ready(to, bytes, "the target of a copy");
  if (!go.ok() || !*go)
    return go.ok() ? StatusOr<bool>(true) : go;
  Status status = device.reach(other->device);
  if (status.ok())
    status = follow(*other);
  if (status.ok())
    status = device.done(device.api().cuMemcpyPeerAsync(addressOf(to), device.primaryContext(), addressOf(from),
                                                        other->device.primaryContext(), size_t(bytes), handle),
                         "cuMemcpyPeerAsync");
  if (status.ok()) // the source stays until it is read
    status = other->follow(*this);
  return status.ok() ? StatusOr<bool>(true) : status;
}

Status CudaStream::fill(void *to, uint8_t value, int64_t bytes) {
  auto held = hold();
  StatusOr<bool> go = ready(to, bytes, "what to fill");
  if (!go.ok() || !*go)
    return go.status();
  return device.done(device.api().cuMemsetD8Async(addressOf(to), value, size_t(bytes), handle), "cuMemsetD8Async");
}

Status CudaStream::record(Event &event) {
  auto held = hold();
  StatusOr<CudaEvent *> known = own(event);
  if (!known.ok())
    return known.status();
  return device.done(device.api().cuEventRecord((*known)->handle, handle), "cuEventRecord");
}

Status CudaStream::wait(Event &event) {
  auto held = hold();
  StatusOr<CudaEvent *> known = own(event);
  if (!known.ok())
    return known.status();
  return device.done(device.api().cuStreamWaitEvent(handle, (*known)->handle, 0), "cuStreamWaitEvent");
}

// A failure of others ends their work too, and the stream gets through.
Status CudaStream::waitForOthers() {
  Waiting waits = waiting();
  if (!waits)
    return {};
  if (!last_) {
    StatusOr<std::unique_ptr<Event>> event = device.createEvent();
    if (!event.ok())
      return event.status();
    last_ = event.take();
  }
  if (Status status = record(*last_); !status.ok())
    return status;
  auto isThrough = [this] { return last_->query(); };
  Status status = waits(isThrough);
  constexpr std::chrono::milliseconds kEnd{1000};
  constexpr std::chrono::microseconds kPause{100};
  for (auto begin = std::chrono::steady_clock::now(); !status.ok();) {
    StatusOr<bool> ended = isThrough();
    hangs = ended.ok() && !*ended;
    if (!hangs || std::chrono::steady_clock::now() - begin > kEnd)
      break;
    std::this_thread::sleep_for(kPause);
  }
  return status;
}

Stream::Waiting CudaStream::waiting() const {
  std::lock_guard guard(waitingLock);
  return waiting_;
}

void CudaStream::waitBy(const Waiting &waiting) {
  std::lock_guard guard(waitingLock);
  waiting_ = waiting;
}

Status CudaStream::waitFor(Event &event) {
  Waiting waits = waiting();
  return waits ? waits([&event] { return event.query(); }) : event.synchronize();
}

Status CudaStream::synchronize() {
  auto held = hold();
  if (Status status = device.enter(); !status.ok())
    return status;
  if (Status status = waitForOthers(); !status.ok())
    return status;
  Status status = device.done(device.api().cuStreamSynchronize(handle), "cuStreamSynchronize");
  if (status.ok())
    device.launches().done(handle);
  return status;
}

} // namespace dlc::runtime
