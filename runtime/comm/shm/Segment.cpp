#include "comm/shm/Segment.h"

#include <cerrno>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace dlc::runtime {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

Status failed(const char *what) {
  return {errno == ENOMEM || errno == ENOSPC ? StatusCode::LimitExceeded : StatusCode::Internal,
          std::string("shared memory: ") + what + ": " + std::strerror(errno)};
}

} // namespace

StatusOr<Segment> Segment::create(int members, FileDescriptor &file) {
  file = FileDescriptor(memfd_create("dlc", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid())
    return failed("memfd_create");
  // All of it now: a page that is missing later would end the program.
  if (fallocate(file.get(), 0, 0, off_t(bytes(members))) != 0)
    return failed("fallocate");
  if (fcntl(file.get(), F_ADD_SEALS, kSeals | F_SEAL_SEAL) != 0)
    return failed("F_ADD_SEALS");
  StatusOr<Segment> made = map(file, members);
  if (made.ok()) {
    new (made->memory) Control;
    for (int m = 0; m < members; ++m)
      new (&made->box(m)) Box;
  }
  return made;
}

StatusOr<Segment> Segment::map(const FileDescriptor &file, int members) {
  struct stat about{};
  if (fstat(file.get(), &about) != 0)
    return failed("fstat");
  int seals = fcntl(file.get(), F_GET_SEALS);
  if (size_t(about.st_size) != bytes(members) || seals < 0 || (seals & kSeals) != kSeals)
    return Status(StatusCode::InvalidInput, "shared memory: expects a sealed file of " +
                                                std::to_string(bytes(members)) + " bytes, got " +
                                                std::to_string(about.st_size));
  void *memory = mmap(nullptr, bytes(members), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED)
    return failed("mmap");
  return Segment(static_cast<char *>(memory), members);
}

Segment::~Segment() {
  if (memory)
    munmap(memory, bytes(members));
}

} // namespace dlc::runtime
