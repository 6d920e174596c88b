#include "job/Collectives.h"

#include "comm/DeviceCollectives.h"
#include "dlc/runtime/Profile.h"
#include "monitor/Progress.h"

#include <cstring>
#include <utility>

namespace dlc::runtime {

namespace {

std::string labelOf(const Manifest &manifest, size_t index) {
  const CollectiveInfo &info = manifest.collectives[index];
  std::string text = std::string(name(info.kind)) + " #" + std::to_string(index);
  if (!info.tensors.empty())
    text += " of " + info.tensors.front() + (info.tensors.size() > 1 ? " … " + info.tensors.back() : "");
  std::string place = manifest.place(uint64_t(info.site));
  return place.empty() ? text : text + " (" + place + ")";
}

/// Bytes of what a member gives and of what it gets.
struct Sizes {
  int64_t in, out;
};
Sizes sizesOf(const CollectiveInfo &info, int members) {
  int64_t part = info.count * byteSize(info.dtype), whole = part * members;
  switch (info.kind) {
  case CollectiveKind::AllReduce:
    return {part, part};
  case CollectiveKind::AllGather:
    return {part, whole};
  case CollectiveKind::ReduceScatter:
    return {whole, part};
  case CollectiveKind::AllToAll:
    return {whole, whole};
  }
  return {0, 0};
}

std::string axesText(const std::vector<std::string> &axes) {
  std::string text;
  for (const std::string &axis : axes)
    text += (text.empty() ? "" : "*") + axis;
  return text;
}

std::vector<double> room(int64_t bytes) { return std::vector<double>(size_t(bytes / 8 + 1)); }

} // namespace

StatusOr<std::unique_ptr<Collectives>> Collectives::bind(Job &job, int local, uint32_t program,
                                                         const Executable &executable, Device &device, Stream &stream,
                                                         std::shared_ptr<StreamWatch> &watch) {
  std::unique_ptr<Collectives> made(new Collectives(job, job.progress(local), program, device, stream));
  const Manifest &manifest = executable.manifest();
  std::vector<std::string> labels;
  made->slots.resize(manifest.collectives.size());
  for (size_t i = 0; i < manifest.collectives.size(); ++i) {
    Slot &slot = made->slots[i];
    slot.info = &manifest.collectives[i];
    slot.label = labelOf(manifest, i);
    labels.push_back(slot.label);
    if (Status status = made->prepare(slot, local, manifest.mesh); !status.ok())
      return status;
    if (!slot.onDevice)
      continue;
    if (!watch) {
      StatusOr<std::shared_ptr<StreamWatch>> created = StreamWatch::make(job, local, device, stream);
      if (!created.ok())
        return created.status();
      watch = created.take();
      stream.waitBy([watch](const std::function<StatusOr<bool>()> &reached) { return watch->wait(reached); });
    }
    made->watch = watch;
    watch->add(*slot.onDevice);
  }
  job.nameCollectives(program, std::move(labels));
  return made;
}

Status Collectives::prepare(Slot &slot, int local, const MeshInfo &mesh) {
  const CollectiveInfo &info = *slot.info;
  bool stays = !device.isHost() && staysOnDevice(info.kind, Reduce(info.reduce), info.dtype, mesh.isOrdered(info.axes));
  StatusOr<Communicator *> communicator = job.communicator(local, info.axes, mesh, int(info.channel), !stays);
  if (!communicator.ok())
    return communicator.status().withContext("communicator along " + axesText(info.axes));
  slot.communicator = *communicator;
  slot.onDevice = stays ? slot.communicator->onDevice() : nullptr;
  if (device.isHost())
    return {};
  for (std::unique_ptr<Event> *each : {&slot.ready, &slot.done, &slot.noted}) {
    StatusOr<std::unique_ptr<Event>> event = device.createEvent();
    if (!event.ok())
      return event.status();
    *each = event.take();
  }
  if (slot.onDevice)
    return {};
  Sizes sizes = sizesOf(info, slot.communicator->size());
  slot.in = room(sizes.in);
  slot.out = info.kind == CollectiveKind::AllReduce ? std::vector<double>() : room(sizes.out);
  return {};
}

Collectives::~Collectives() {
  if (watch)
    for (const Slot &slot : slots)
      watch->forget(&slot);
}

void Collectives::begin(size_t entry) {
  progress.beginStep();
  progress.enter(Phase::Run, program, uint32_t(entry));
}

Status Collectives::end(Status status) {
  progress.enter(Phase::UserCode);
  for (Slot &slot : slots) {
    if (!slot.work && !slot.underWay)
      continue;
    if (status.ok())
      status = {StatusCode::Internal, slot.label + " was started and never waited for"};
    // Whoever holds this member's memory lets go of it; the others fail with it.
    slot.communicator->abort(status);
    slot.work.reset();
    slot.underWay = false;
  }
  return watch && status.ok() ? watch->endStep() : status;
}

Status Collectives::start(uint32_t index, const void *from, void *to) {
  if (index >= slots.size())
    return {StatusCode::Internal, "there is no collective " + std::to_string(index)};
  Slot &slot = slots[index];
  if (slot.work || slot.underWay)
    return {StatusCode::Internal, slot.label + " was started twice without a wait"};
  slot.op = Op{.id = {program, index, progress.step()}, .label = slot.label};
  if (slot.onDevice) {
    Status status = startOnDevice(slot, from, to);
    return status.ok() ? status : failed(slot, status);
  }
  slot.to = to;
  if (!device.isHost()) {
    if (Status status = stage(slot, from); !status.ok())
      return status;
    slot.op.after = slot.ready.get();
    from = slot.in.data();
    to = slot.out.empty() ? slot.in.data() : slot.out.data();
  } else if (slot.info->kind == CollectiveKind::AllReduce && from != to) {
    std::memcpy(to, from, size_t(sizesOf(*slot.info, slot.communicator->size()).in));
  }
  progress.started(size_t(slot.info->channel), program, index, slot.info->count);
  StatusOr<WorkPtr> work = submit(slot, slot.op, from, to);
  if (!work.ok())
    return failed(slot, work.status());
  slot.work = work.take();
  return {};
}

// The first time members show each other that they mean the same, so that no wrong numbers come of it; from then on
// nothing waits here.
Status Collectives::startOnDevice(Slot &slot, const void *from, void *to) {
  const CollectiveInfo &info = *slot.info;
  uint32_t index = slot.op.id.index;
  DeviceCollectives::Call call{info.kind, Reduce(info.reduce), info.dtype, info.count, from, to};
  Event &done = isNoting ? *slot.noted : *slot.done;
  if (!isNoting)
    progress.started(size_t(info.channel), program, index, info.count);
  bool first = !std::exchange(slot.agreed, true);
  if (first) {
    slot.onDevice->note(slot.op, call, true); // reports show what it waits in
    progress.enter(Phase::Wait, program, index);
    Status status = slot.onDevice->agree(slot.op, call);
    progress.enter(Phase::Run, program, uint32_t(info.entry));
    if (!status.ok())
      return status;
  }
  Stream &other = slot.onDevice->stream();
  Status status = stream.record(*slot.ready);
  if (status.ok())
    status = other.wait(*slot.ready);
  if (status.ok())
    status = slot.onDevice->enqueue(slot.op, call);
  if (status.ok())
    status = other.record(done);
  if (!status.ok())
    return status;
  slot.underWay = true;
  if (isNoting)
    return {};
  if (!first)
    slot.onDevice->note(slot.op, call, false);
  watch->began(&slot, {program, index, slot.op.id.step, slot.label, &done});
  return {};
}

void Collectives::replayed(uint32_t index) {
  Slot &slot = slots[index];
  const CollectiveInfo &info = *slot.info;
  slot.op.id.step = progress.step();
  progress.started(size_t(info.channel), program, index, info.count);
  slot.onDevice->note(slot.op, {info.kind, Reduce(info.reduce), info.dtype, info.count, nullptr, nullptr}, true);
  watch->began(&slot, {program, index, slot.op.id.step, slot.label, nullptr});
}

Status Collectives::failed(const Slot &slot, const Status &why) {
  return failedIn(job, slot.label, slot.op.id.step, why);
}

// In the order of the stream: the communicator waits for the event.
Status Collectives::stage(Slot &slot, const void *from) {
  Sizes sizes = sizesOf(*slot.info, slot.communicator->size());
  if (Status status = stream.copyToHost(slot.in.data(), from, sizes.in); !status.ok())
    return status;
  return stream.record(*slot.ready);
}

StatusOr<WorkPtr> Collectives::submit(Slot &slot, const Op &op, const void *from, void *to) {
  const CollectiveInfo &info = *slot.info;
  int64_t whole = info.count * slot.communicator->size();
  auto reduce = Reduce(info.reduce);
  Elements in{const_cast<void *>(from), info.count, info.dtype}, out{to, info.count, info.dtype};
  switch (info.kind) {
  case CollectiveKind::AllReduce:
    return slot.communicator->allReduce(op, out, reduce);
  case CollectiveKind::AllGather:
    out.count = whole;
    return slot.communicator->allGather(op, in, out);
  case CollectiveKind::ReduceScatter:
    in.count = whole;
    return slot.communicator->reduceScatter(op, in, out, reduce);
  case CollectiveKind::AllToAll: {
    in.count = out.count = whole;
    std::vector<int64_t> counts(size_t(slot.communicator->size()), info.count);
    return slot.communicator->allToAll(op, in, out, counts, counts);
  }
  }
  return Status(StatusCode::Internal, slot.label + " is of no kind");
}

Status Collectives::wait(uint32_t index) {
  if (index >= slots.size() || (!slots[index].work && !slots[index].underWay))
    return {StatusCode::Internal, "a wait for collective " + std::to_string(index) + ", which was not started"};
  Slot &slot = slots[index];
  if (std::exchange(slot.underWay, false))
    return stream.wait(isNoting ? *slot.noted : *slot.done);
  Status status;
  {
    profile::Span span(profile::Category::Wait, slot.label);
    progress.enter(Phase::Wait, program, index);
    status = slot.work->wait(job.deadline());
    progress.enter(Phase::Run, program, uint32_t(slot.info->entry));
  }
  slot.work.reset();
  if (!status.ok())
    return failed(slot, status);
  if (device.isHost())
    return {};
  return stream.copyToDevice(slot.to, slot.out.empty() ? slot.in.data() : slot.out.data(),
                             sizesOf(*slot.info, slot.communicator->size()).out);
}

} // namespace dlc::runtime
