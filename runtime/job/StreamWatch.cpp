#include "job/StreamWatch.h"

#include "comm/DeviceCollectives.h"
#include "monitor/Progress.h"

#include <algorithm>
#include <thread>

namespace dlc::runtime {

StatusOr<std::shared_ptr<StreamWatch>> StreamWatch::make(Job &job, int local, Device &device, Stream &stream) {
  std::shared_ptr<StreamWatch> made(new StreamWatch(job, local, stream));
  for (End &end : made->ends) {
    StatusOr<std::unique_ptr<Event>> event = device.createEvent();
    if (!event.ok())
      return event.status();
    end.event = event.take();
  }
  return made;
}

void StreamWatch::add(DeviceCollectives &collectives) {
  std::lock_guard guard(lock);
  asked.insert(&collectives);
}

void StreamWatch::began(const void *slot, const Collective &collective) {
  std::lock_guard guard(lock);
  begun[slot] = {++count, collective};
}

void StreamWatch::forget(const void *slot) {
  std::lock_guard guard(lock);
  begun.erase(slot);
}

/// The first that is not done, else the last of which nobody knows.
std::optional<StreamWatch::Collective> StreamWatch::awaited() {
  std::lock_guard guard(lock);
  const Entry *first = nullptr, *unknown = nullptr;
  for (const auto &[slot, entry] : begun) {
    if (!entry.what.done) {
      unknown = unknown && unknown->number > entry.number ? unknown : &entry;
    } else if (!first || entry.number < first->number) {
      StatusOr<bool> done = entry.what.done->query();
      first = done.ok() && !*done ? &entry : first;
    }
  }
  const Entry *found = first ? first : unknown;
  return found ? std::optional(found->what) : std::nullopt;
}

Status StreamWatch::look(const Collective &where, Deadline limit) {
  if (Status known = job.failure(); !known.ok())
    return known;
  Status lost;
  {
    std::lock_guard guard(lock);
    for (DeviceCollectives *each : asked)
      if (lost = each->look(); !lost.ok())
        break;
  }
  if (lost.ok() && std::chrono::steady_clock::now() > limit)
    lost = {StatusCode::PeerFailed, "a step of this device is not done at its limit of time"};
  return lost.ok() ? lost : failedIn(job, where.label, where.step, lost);
}

Status StreamWatch::wait(const std::function<StatusOr<bool>()> &reached) {
  return wait(reached, job.progress(local).step());
}

Status StreamWatch::wait(const std::function<StatusOr<bool>()> &reached, uint64_t step) {
  constexpr std::chrono::microseconds kSpin{50}, kPause{50};
  constexpr std::chrono::milliseconds kLook{1};
  Progress &progress = job.progress(local);
  auto start = std::chrono::steady_clock::now(), looked = start;
  Deadline limit = job.deadline();
  Collective where;
  bool waits = false;
  Phase before = progress.phase();
  uint32_t program = progress.program(), index = progress.index();
  Status status;
  while (status.ok()) {
    StatusOr<bool> there = reached();
    if (!there.ok())
      status = job.tellOthers(local, "failed", there.status());
    if (!there.ok() || *there)
      break;
    auto now = std::chrono::steady_clock::now();
    if (now - start < kSpin)
      continue;
    if (now - looked > kLook) {
      looked = now;
      auto other = awaited();
      if (other && (!waits || !other->isSame(where))) {
        where = *other;
        waits = true;
        progress.enter(Phase::Wait, where.program, where.index);
      }
      status = look(where, limit);
    }
    std::this_thread::sleep_for(kPause);
  }
  if (waits)
    progress.enter(before, program, index);
  std::lock_guard guard(lock);
  for (DeviceCollectives *each : asked)
    if (status.ok())
      each->passed(step);
  return status;
}

Status StreamWatch::endStep() {
  End &now = ends[steps % kSteps];
  if (Status status = stream.record(*now.event); !status.ok())
    return status;
  now.step = job.progress(local).step();
  ++steps;
  if (steps < kSteps)
    return {};
  End &before = ends[steps % kSteps];
  return wait([&] { return before.event->query(); }, before.step);
}

Status failedIn(Job &job, const std::string &label, uint64_t step, const Status &why) {
  Status reason = job.failed(label.empty() ? why : why.withContext(label));
  if (label.empty() || reason.message().find(label) != std::string::npos)
    return reason;
  return {reason.code(), reason.message() + "\n  this rank was in step " + std::to_string(step) + ", in " + label};
}

} // namespace dlc::runtime
