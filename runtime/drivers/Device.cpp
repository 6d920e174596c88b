#include "dlc/runtime/Device.h"

#include "drivers/Driver.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <utility>

namespace dlc {

namespace runtime {

namespace {

Status invalid(const std::string &message) { return {StatusCode::InvalidInput, message}; }

const Driver *findDriver(std::string_view kind) {
  auto found = std::find_if(kDrivers.begin(), kDrivers.end(), [&](const Driver *each) { return each->kind == kind; });
  return found == kDrivers.end() ? nullptr : *found;
}

std::string knownKinds() {
  std::string list;
  for (const Driver *driver : kDrivers)
    list += (list.empty() ? "" : ", ") + std::string(driver->kind) + (driver == &kCpuDriver ? "" : ":N");
  return list;
}

struct Table {
  std::mutex lock;
  std::map<DeviceId, std::unique_ptr<Device>> devices;
};

} // namespace

Status overlapping(const DeviceId &device, int64_t bytes) {
  return invalid(device.str() + ": a copy of " + std::to_string(bytes) + " bytes overlaps itself");
}

} // namespace runtime

StatusOr<DeviceId> DeviceId::parse(std::string_view text) {
  size_t colon = text.find(':');
  DeviceId id{std::string(text.substr(0, colon)), 0};
  bool good = runtime::findDriver(id.kind) != nullptr;
  if (colon != std::string_view::npos) {
    const char *last = text.data() + text.size();
    auto [end, error] = std::from_chars(text.data() + colon + 1, last, id.index);
    good &= error == std::errc() && end == last && id.index >= 0 && text[colon + 1] != '-';
  }
  if (!good)
    return runtime::invalid("expected a device, one of " + runtime::knownKinds() + "; got '" + std::string(text) + "'");
  return id;
}

std::string DeviceId::str() const { return kind == "cpu" && index == 0 ? kind : kind + ":" + std::to_string(index); }

namespace runtime {

StatusOr<Device *> Device::open(const DeviceId &id) {
  const Driver *driver = findDriver(id.kind);
  if (!driver)
    return invalid("expected a device, one of " + knownKinds() + "; got '" + id.str() + "'");
  // To the end: tensors in static memory may outlive everything else.
  static Table &table = *new Table;
  std::lock_guard guard(table.lock);
  if (auto known = table.devices.find(id); known != table.devices.end())
    return known->second.get();
  StatusOr<int> count = driver->count();
  if (!count.ok())
    return count.status().withContext(id.str());
  if (id.index < 0 || id.index >= *count)
    return invalid(id.str() + ": there is no such device; '" + id.kind + "' has " + std::to_string(*count) +
                   ", counted from 0");
  StatusOr<std::unique_ptr<Device>> opened = driver->open(id.index);
  if (!opened.ok())
    return opened.status().withContext(id.str());
  return table.devices.emplace(id, opened.take()).first->second.get();
}

std::vector<Device::Kind> Device::kinds() {
  std::vector<Kind> kinds;
  for (const Driver *driver : kDrivers) {
    StatusOr<int> count = driver->count();
    kinds.push_back({std::string(driver->kind), count.ok() ? *count : 0, count.status().message(), driver->ofHost});
  }
  return kinds;
}

StatusOr<Arena> Device::allocate(std::string_view name, int64_t bytes) {
  if (Status status = check(); !status.ok())
    return status;
  if (bytes < 0)
    return invalid(id_.str() + ": expected a number of bytes, got " + std::to_string(bytes));
  Arena arena;
  if (bytes == 0)
    return arena;
  StatusOr<Block> block = reserve(name, bytes);
  if (!block.ok())
    return block.status();
  arena.device = this;
  arena.base_ = block->base;
  arena.bytes_ = bytes;
  arena.reserved = block->reserved;
  std::lock_guard guard(lock);
  stats.allocated += bytes;
  stats.reserved += block->reserved;
  stats.peak = std::max(stats.peak, stats.allocated);
  ++stats.count;
  return arena;
}

StatusOr<HostMemory> Device::allocateHost(int64_t bytes) {
  constexpr int64_t kAlignment = 64;
  auto rounded = size_t((bytes + kAlignment - 1) / kAlignment * kAlignment);
  auto *memory = static_cast<char *>(std::aligned_alloc(size_t(kAlignment), rounded));
  if (!memory)
    return Status(StatusCode::LimitExceeded,
                  "out of memory: the host has no " + std::to_string(bytes) + " bytes for copies of " + id_.str());
  return HostMemory(memory, [](char *data) { std::free(data); });
}

void Device::free(const Arena &arena) {
  release({arena.base_, arena.reserved});
  std::lock_guard guard(lock);
  stats.allocated -= arena.bytes_;
  stats.reserved -= arena.reserved;
  --stats.count;
}

MemoryStats Device::memoryStats() const {
  std::lock_guard guard(lock);
  return stats;
}

Status Device::failure() const {
  std::lock_guard guard(lock);
  return failure_;
}

Status Device::fail(Status status) {
  std::lock_guard guard(lock);
  if (failure_.ok())
    failure_ = std::move(status);
  failed.store(true, std::memory_order_release);
  return failure_;
}

Status Device::reset() {
  std::lock_guard guard(lock);
  if (stats.count > 0)
    return invalid(id_.str() + ": cannot be reset while " + std::to_string(stats.count) + " arenas use it");
  if (Status status = restart(); !status.ok())
    return status;
  failure_ = Status();
  failed.store(false, std::memory_order_release);
  return {};
}

} // namespace runtime

} // namespace dlc
