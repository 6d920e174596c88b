#include "record/Place.h"

#include "dlc/runtime/Job.h"
#include "record/Fault.h"
#include "record/Job.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace dlc::record {

struct Place::Device {
  runtime::Device *opened = nullptr;
  std::once_flag once;
  std::unique_ptr<Session> own;
  std::atomic<Session *> session = nullptr;
  /// Every block taken from the device, waiting ones too.
  std::map<void *, runtime::Arena> blocks;
};

namespace {
struct Places {
  std::mutex mutex;
  std::map<DeviceId, Place *> byId;
};
Places &places() {
  static Places &instance = *new Places; // tensors in static memory may outlive everything else
  return instance;
}

/// Allocators that check (sanitizers) end the process where others return null.
bool exceedsMachine(int64_t bytes) {
  if (bytes < int64_t(1) << 32)
    return false;
  StatusOr<runtime::Device *> cpu = runtime::Device::open({});
  return cpu.ok() && bytes > (*cpu)->memoryBytes();
}

/// Blocks that can stand for each other have one size.
int64_t blockBytes(int64_t bytes) {
  int64_t unit = bytes <= 1 << 20 ? 512 : 64 << 10;
  return std::max(bytes + unit - 1, unit) / unit * unit;
}
} // namespace

Place::Place(std::string name, bool isHost) : name_(std::move(name)), isHost_(isHost), device_(new Device) {}
Place::~Place() = default;

Place &Place::host() {
  static Place &instance = *new Place("cpu", true);
  return instance;
}

Place &Place::find(const std::string &text, const std::source_location &where) {
  auto stop = [&](const Status &status) { fail(ErrorKind::Device, status.message(), where); };
  StatusOr<DeviceId> id = DeviceId::parse(text);
  if (!id.ok())
    stop(id.status());
  if (*id == DeviceId())
    return host();
  // "cuda" is the GPU of this rank.
  if (const Job *now = job(); now && text == id->kind)
    if (const DeviceId &own = now->runtime->session().device().id(); own.kind == text)
      id = own;
  std::lock_guard guard(places().mutex);
  if (auto known = places().byId.find(*id); known != places().byId.end())
    return *known->second;
  StatusOr<runtime::Device *> device = runtime::Device::open(*id);
  if (!device.ok())
    stop(device.status());
  Place *place = new Place(id->str(), false);
  place->device_->opened = *device;
  places().byId.emplace(*id, place);
  return *place;
}

int Place::count(const std::string &kind) {
  for (const runtime::Device::Kind &each : runtime::Device::kinds())
    if (each.name == kind)
      return each.count;
  return 0;
}

std::vector<Place *> Place::open() {
  std::vector<Place *> list{&host()};
  std::lock_guard guard(places().mutex);
  for (const auto &[id, place] : places().byId)
    list.push_back(place);
  return list;
}

bool Place::isUsed() const { return device_->session.load() != nullptr; }

Session &Place::session() {
  std::call_once(device_->once, [&] {
    StatusOr<DeviceId> id = DeviceId::parse(name_);
    if (const Job *now = job(); now && now->runtime->session().device().id() == *id) {
      device_->session = &now->runtime->session();
      device_->opened = &now->runtime->session().device();
      return;
    }
    auto created = Session::create({.device = *id});
    check(created.status(), std::source_location::current());
    device_->own = created.take();
    device_->opened = &device_->own->device();
    device_->session = device_->own.get();
  });
  return *device_->session;
}

void Place::note(int64_t bytes) {
  int64_t now = used.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  for (int64_t most = peak.load(std::memory_order_relaxed); now > most && !peak.compare_exchange_weak(most, now);)
    continue;
}

void *Place::allocate(int64_t bytes, const std::source_location &where) {
  if (isHost_) {
    int64_t rounded = (bytes + 63) / 64 * 64;
    void *block = exceedsMachine(bytes) ? nullptr : std::aligned_alloc(64, static_cast<size_t>(rounded ? rounded : 64));
    if (!block)
      fail(ErrorKind::Device, "out of memory: a tensor needs " + std::to_string(bytes) + " bytes, more than cpu has",
           where);
    note(bytes);
    blocksUsed.fetch_add(bytes, std::memory_order_relaxed);
    return block;
  }
  int64_t size = blockBytes(bytes);
  std::lock_guard guard(lock);
  if (auto waiting = free.find(size); waiting != free.end() && !waiting->second.empty()) {
    void *block = waiting->second.back();
    waiting->second.pop_back();
    note(bytes);
    return block;
  }
  StatusOr<runtime::Arena> arena = device_->opened->allocate("tensors", size);
  if (!arena.ok() && arena.status().code() == StatusCode::LimitExceeded && dropWaiting())
    arena = device_->opened->allocate("tensors", size);
  if (!arena.ok())
    fail(ErrorKind::Device, arena.status().message(), where);
  void *block = arena->base();
  device_->blocks.emplace(block, arena.take());
  note(bytes);
  return block;
}

void Place::release(void *data, int64_t bytes) {
  note(-bytes);
  if (isHost_) {
    blocksUsed.fetch_sub(bytes, std::memory_order_relaxed);
    std::free(data);
    return;
  }
  // Whoever takes it next puts its work behind what still uses it now.
  std::lock_guard guard(lock);
  free[blockBytes(bytes)].push_back(data);
}

bool Place::dropWaiting() {
  bool any = false;
  for (const auto &[size, blocks] : free)
    for (void *block : blocks)
      any |= device_->blocks.erase(block) > 0;
  free.clear();
  return any;
}

void Place::releaseUnused() {
  std::lock_guard guard(lock);
  dropWaiting();
}

char *Place::makeArena(const std::string &name, int64_t bytes, const std::source_location &where) {
  check(session().reserve(name, bytes), where);
  for (Session *other : otherSessions())
    check(other->reserve(name, bytes), where);
  note(bytes);
  return session().arena(name);
}

void Place::dropArena(const std::string &name, int64_t bytes) {
  note(-bytes);
  session().release(name);
  for (Session *other : otherSessions())
    other->release(name);
}

bool Place::isOfJob() {
  const Job *now = job();
  return now && &session() == &now->runtime->session();
}

std::vector<Session *> Place::otherSessions() {
  std::vector<Session *> others;
  if (const Job *now = job(); now && now->localMembers > 1 && isOfJob())
    for (int local = 1; local < now->localMembers; ++local)
      others.push_back(&now->runtime->session(local));
  return others;
}

void Place::copyToMembers(const std::string &arena, int64_t offset, int64_t bytes, const std::source_location &where) {
  std::vector<Session *> others = otherSessions();
  if (others.empty())
    return;
  const char *from = session().arena(arena) + offset;
  for (Session *other : others)
    check(other->copyFrom(session(), other->arena(arena) + offset, from, bytes), where);
}

PlaceMemory Place::memory() { return {used, session().device().memoryStats().reserved + blocksUsed, peak}; }

void copyBytes(Place &to, void *target, Place &from, const void *source, int64_t bytes,
               const std::source_location &where) {
  if (bytes == 0)
    return;
  if (to.isHost() && from.isHost()) {
    std::memcpy(target, source, static_cast<size_t>(bytes));
  } else if (to.isHost()) {
    check(from.session().download(target, source, bytes), where);
  } else if (from.isHost()) {
    check(to.session().upload(target, source, bytes), where);
  } else if (&to == &from) {
    check(to.session().stream().copy(target, source, bytes), where);
  } else {
    check(to.session().copyFrom(from.session(), target, source, bytes), where);
  }
}

} // namespace dlc::record
