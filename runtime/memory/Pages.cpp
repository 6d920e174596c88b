#include "Pages.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <utility>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace dlc {

namespace {

constexpr int64_t kPage = 4096, kHugePage = int64_t(2) << 20;

int64_t readNumber(const char *path, const char *format) {
  int64_t value = INT64_MAX;
  if (FILE *file = std::fopen(path, "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file))
      if (std::sscanf(line, format, &value) == 1)
        break;
    std::fclose(file);
  }
  return value;
}

} // namespace

int64_t Pages::installedBytes() {
  int64_t kilobytes = readNumber("/proc/meminfo", "MemTotal: %ld kB");
  int64_t limit = readNumber("/sys/fs/cgroup/memory.max", "%ld");
  return std::min(limit, kilobytes == INT64_MAX ? INT64_MAX : kilobytes * 1024);
}

int64_t Pages::availableBytes() {
  int64_t kilobytes = readNumber("/proc/meminfo", "MemAvailable: %ld kB");
  int64_t free = kilobytes == INT64_MAX ? INT64_MAX : kilobytes * 1024;
  int64_t limit = readNumber("/sys/fs/cgroup/memory.max", "%ld");
  int64_t used = readNumber("/sys/fs/cgroup/memory.current", "%ld");
  if (limit != INT64_MAX && used != INT64_MAX)
    free = std::min(free, limit - used);
  return free;
}

StatusOr<Pages> Pages::create(const std::string &name, int64_t bytes) {
  Pages pages;
  if (bytes == 0)
    return pages;
  int64_t unit = bytes >= 2 * kHugePage ? kHugePage : kPage;
  int64_t mapped = (bytes + unit - 1) / unit * unit;
  if (int64_t free = availableBytes(); mapped > free)
    return Status(StatusCode::LimitExceeded, "out of memory: arena '" + name + "' needs " + std::to_string(bytes) +
                                                 " bytes, " + std::to_string(free) + " are available");
  // Over-allocates by one huge page and gives the ends back, so that the kernel can use huge pages throughout.
  int64_t reserved = unit == kHugePage ? mapped + kHugePage : mapped;
  void *start = mmap(nullptr, size_t(reserved), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return Status(StatusCode::LimitExceeded, "out of memory: arena '" + name + "' needs " + std::to_string(bytes) +
                                                 " bytes: " + std::strerror(errno));
  char *base = static_cast<char *>(start);
  if (unit == kHugePage) {
    char *aligned = base + (kHugePage - reinterpret_cast<uintptr_t>(base) % kHugePage) % kHugePage;
    if (aligned != base)
      munmap(base, size_t(aligned - base));
    if (int64_t tail = base + reserved - (aligned + mapped))
      munmap(aligned + mapped, size_t(tail));
    base = aligned;
    madvise(base, size_t(mapped), MADV_HUGEPAGE);
  }
  if (madvise(base, size_t(mapped), MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
    Status failure(StatusCode::LimitExceeded, "out of memory: arena '" + name + "' of " + std::to_string(bytes) +
                                                  " bytes cannot be backed: " + std::strerror(errno));
    munmap(base, size_t(mapped));
    return failure;
  }
  pages.base_ = base;
  pages.bytes_ = bytes;
  pages.mapped_ = mapped;
  return pages;
}

Pages::Pages(Pages &&other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

Pages &Pages::operator=(Pages &&other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

Pages::~Pages() {
  if (base_)
    munmap(base_, size_t(mapped_));
}

} // namespace dlc
