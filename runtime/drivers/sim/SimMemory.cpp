#include "drivers/sim/SimMemory.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace dlc::runtime {

namespace {

Status exhausted(const DeviceId &device, const std::string &name, int64_t bytes, const std::string &why) {
  return {StatusCode::LimitExceeded,
          "out of memory: arena '" + name + "' needs " + std::to_string(bytes) + " bytes, " + device.str() + " " + why};
}

} // namespace

SimMemory::~SimMemory() {
  for (const auto &[address, piece] : pieces)
    munmap(const_cast<char *>(address), size_t(piece.pages.mapped()));
}

StatusOr<char *> SimMemory::reserve(const std::string &name, int64_t bytes) {
  std::lock_guard guard(lock);
  if (bytes > limit_ - used)
    return exhausted(device, name, bytes,
                     "has " + std::to_string(limit_ - used) + " of its " + std::to_string(limit_) + " left");
  StatusOr<Pages> pages = Pages::create(name, bytes);
  if (!pages.ok())
    return pages.status().withContext(device.str());
  // As long as the bytes behind it, so that two of them never meet.
  void *address = mmap(nullptr, size_t(pages->mapped()), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    return exhausted(device, name, bytes, std::string("has no addresses left: ") + std::strerror(errno));
  std::memset(pages->base(), kNobodyWrote, size_t(pages->mapped()));
  used += bytes;
  char *base = static_cast<char *>(address);
  pieces.emplace(base, Piece{name, bytes, pages.take()});
  return base;
}

int64_t SimMemory::reserved(const char *address) const {
  std::lock_guard guard(lock);
  auto found = pieces.find(address);
  return found == pieces.end() ? 0 : found->second.pages.mapped();
}

void SimMemory::release(const char *address) {
  std::lock_guard guard(lock);
  auto found = pieces.find(address);
  if (found == pieces.end())
    return;
  munmap(const_cast<char *>(address), size_t(found->second.pages.mapped()));
  used -= found->second.bytes;
  pieces.erase(found);
}

std::map<const char *, SimMemory::Piece>::const_iterator SimMemory::find(const char *address) const {
  auto after = pieces.upper_bound(address);
  if (after == pieces.begin())
    return pieces.end();
  auto found = std::prev(after);
  return address - found->first < found->second.pages.mapped() ? found : pieces.end();
}

StatusOr<char *> SimMemory::translate(const void *address, int64_t bytes) const {
  std::lock_guard guard(lock);
  const char *first = static_cast<const char *>(address);
  auto found = find(first);
  if (found == pieces.end())
    return Status(StatusCode::InvalidInput, "not in the device's memory");
  const Piece &piece = found->second;
  int64_t offset = first - found->first;
  if (offset > piece.bytes || bytes > piece.bytes - offset)
    return Status(StatusCode::InvalidInput, std::to_string(bytes) + " bytes from byte " + std::to_string(offset) +
                                                " of arena '" + piece.name + "', which has " +
                                                std::to_string(piece.bytes));
  return piece.pages.base() + offset;
}

} // namespace dlc::runtime
