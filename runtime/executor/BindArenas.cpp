#include "dlc/runtime/Session.h"

#include <algorithm>
#include <map>

namespace dlc {

namespace {

Status invalid(const std::string &message) { return {StatusCode::InvalidInput, message}; }

/// "train_step plans 4928 bytes: 4096 of activation, 832 of parameter"
std::string plannedText(const Manifest &manifest) {
  std::map<std::string, int64_t> classes;
  int64_t all = 0;
  for (const ArenaInfo &arena : manifest.arenas) {
    classes[arena.klass] += arena.bytes;
    all += arena.bytes;
  }
  std::vector<std::pair<int64_t, std::string>> largest;
  largest.reserve(classes.size());
  for (const auto &[name, bytes] : classes)
    largest.emplace_back(bytes, name);
  std::sort(largest.rbegin(), largest.rend());
  std::string text;
  for (const EntryInfo &entry : manifest.entries)
    text += (text.empty() ? "" : ", ") + entry.name;
  text += " plans " + std::to_string(all) + " bytes";
  for (const auto &[bytes, name] : largest)
    text += (&name == &largest.front().second ? ": " : ", ") + std::to_string(bytes) + " of " + name;
  return text;
}

/// An arena that there is no memory for, in terms of the program.
Status lacking(const Status &status, const Manifest &manifest) {
  if (status.code() != StatusCode::LimitExceeded)
    return status;
  return {status.code(), status.message() + "; " + plannedText(manifest) +
                             "; a smaller batch, mixed precision or an activation budget takes less"};
}

} // namespace

Status Session::reserve(const std::string &name, int64_t bytes) {
  std::lock_guard guard(lock);
  auto found = arenas.find(name);
  if (found != arenas.end()) {
    if (found->second.bytes() >= bytes)
      return {};
    return invalid("arena '" + name + "' has " + std::to_string(found->second.bytes()) + " bytes, needs " +
                   std::to_string(bytes) + ": state never moves");
  }
  StatusOr<runtime::Arena> arena = device_.allocate(name, bytes);
  if (!arena.ok())
    return arena.status();
  arenas.emplace(name, arena.take());
  return {};
}

void Session::release(std::string_view name) {
  std::lock_guard guard(lock);
  if (auto found = arenas.find(name); found != arenas.end())
    arenas.erase(found); // freeing waits for the device's work
}

char *Session::arena(std::string_view name) const {
  auto found = arenas.find(name);
  return found == arenas.end() ? nullptr : found->second.base();
}

// Scratch holds nothing between calls: it is shared by all programs and grows to the largest.
Status Session::grow(const ArenaInfo &info) {
  StatusOr<runtime::Arena> larger = device_.allocate(info.name, info.bytes);
  if (!larger.ok())
    return larger.status();
  arenas.find(info.name)->second = larger.take();
  for (const std::weak_ptr<Program> &other : programs)
    if (std::shared_ptr<Program> alive = other.lock())
      for (size_t i = 0; i < alive->arenas.size(); ++i)
        if (alive->executable().manifest().arenas[i].name == info.name)
          alive->arenas[i] = arena(info.name);
  return {};
}

StatusOr<char *> Session::bindConstants(Program &program, const ArenaInfo &info) {
  const void *data = program.executable().initialData(uint64_t(info.initial), uint64_t(info.bytes));
  if (!data)
    return invalid("constants of arena '" + info.name + "' lie outside the image");
  if (device_.isHost()) // compiled code only reads them
    return const_cast<char *>(static_cast<const char *>(data));
  StatusOr<runtime::Arena> copy = device_.allocate(info.name, info.bytes);
  Status status = copy.ok() ? upload(copy->base(), data, info.bytes) : copy.status();
  if (!status.ok())
    return status;
  program.owned.push_back(copy.take());
  return program.owned.back().base();
}

StatusOr<char *> Session::bindArena(Program &program, const ArenaInfo &info) {
  if (info.klass == "constant")
    return bindConstants(program, info);
  Status status;
  if (info.klass == "activation" && arenas.contains(info.name) && arenas.find(info.name)->second.bytes() < info.bytes) {
    std::lock_guard guard(lock);
    status = grow(info);
  } else {
    status = reserve(info.name, info.bytes);
  }
  return status.ok() ? StatusOr<char *>(arena(info.name)) : status;
}

Status Session::bindArenas(Program &program, std::vector<std::string> &taken) {
  const Manifest &manifest = program.executable().manifest();
  for (const ArenaInfo &info : manifest.arenas) {
    if (info.klass != "constant" && !arenas.contains(info.name))
      taken.push_back(info.name);
    StatusOr<char *> bound = bindArena(program, info);
    if (!bound.ok())
      return lacking(bound.status(), manifest);
    program.arenas.push_back(*bound);
  }
  return {};
}

} // namespace dlc
