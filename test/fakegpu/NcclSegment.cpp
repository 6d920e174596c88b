#include "NcclSegment.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dlc::fakegpu {

namespace {

constexpr uint32_t kMagic = 0x6e63636cU;

/// Who holds the file, and as which one.
struct Holder {
  int process = 0, file = -1;

  explicit Holder(const runtime::nccl::UniqueId &id) {
    char *end = nullptr;
    process = int(std::strtol(id.internal, &end, 10));
    file = int(std::strtol(end, nullptr, 10));
  }
};

/// Ids of this process whose file is open: all its ranks forget theirs, and the first one counts.
std::mutex openLock;
std::set<std::string> &openIds() {
  static auto &all = *new std::set<std::string>;
  return all;
}

} // namespace

bool NcclSegment::create(runtime::nccl::UniqueId &id) {
  static_assert(sizeof(Control) <= kControlBytes);
  int file = memfd_create("fakegpu-nccl", MFD_CLOEXEC);
  if (file < 0)
    return false;
  std::memset(&id, 0, sizeof id);
  static std::atomic<int> serial = 0;
  std::snprintf(id.internal, sizeof id.internal, "%d %d %d", int(getpid()), file, ++serial);
  if (ftruncate(file, off_t(kBytes)) != 0) {
    close(file);
    return false;
  }
  void *memory = mmap(nullptr, kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    close(file);
    return false;
  }
  auto *control = new (memory) Control;
  control->magic = kMagic;
  munmap(memory, kControlBytes);
  std::lock_guard guard(openLock);
  openIds().insert(id.internal);
  return true;
}

void NcclSegment::forget(const runtime::nccl::UniqueId &id) {
  Holder holder(id);
  if (holder.process != getpid())
    return;
  std::lock_guard guard(openLock);
  if (openIds().erase(id.internal) == 1)
    close(holder.file);
}

std::shared_ptr<NcclSegment> NcclSegment::attach(const runtime::nccl::UniqueId &id) {
  Holder holder(id);
  std::string path = "/proc/" + std::to_string(holder.process) + "/fd/" + std::to_string(holder.file);
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  struct stat about{};
  void *memory = MAP_FAILED;
  if (fstat(file, &about) == 0 && uint64_t(about.st_size) == kBytes)
    memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    return nullptr;
  std::shared_ptr<NcclSegment> made(new NcclSegment(static_cast<char *>(memory)));
  return made->control().magic == kMagic ? made : nullptr;
}

NcclSegment::~NcclSegment() { munmap(memory, kBytes); }

} // namespace dlc::fakegpu
