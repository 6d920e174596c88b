#include "base/MappedFile.h"

#include "base/FileDescriptor.h"
#include "base/FileError.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace dlc {

StatusOr<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string &path) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid())
    return systemError("cannot open");
  struct stat info;
  if (::fstat(file.get(), &info) != 0)
    return systemError("cannot read the size");
  if (!S_ISREG(info.st_mode))
    return invalidFile(std::string("expected a regular file, found a ") +
                       (S_ISDIR(info.st_mode) ? "directory" : "device"));
  size_t size = static_cast<size_t>(info.st_size);
  if (size == 0)
    return std::shared_ptr<const MappedFile>(new MappedFile({}));
  void *address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED)
    return systemError("cannot map");
  return std::shared_ptr<const MappedFile>(new MappedFile({static_cast<const std::byte *>(address), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty())
    ::munmap(const_cast<std::byte *>(bytes_.data()), bytes_.size());
}

} // namespace dlc
