#include "base/ReplaceFile.h"

#include "base/FileDescriptor.h"
#include "base/FileError.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dlc {
namespace {

Status writeAll(int file, std::span<const std::byte> bytes) {
  constexpr size_t longestWrite = size_t{1} << 30; // Linux writes at most 2 GiB a call
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), std::min(bytes.size(), longestWrite));
    if (written < 0 && errno != EINTR)
      return systemError("cannot write");
    if (written > 0)
      bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status writeNewFile(const std::string &path, std::span<const std::span<const std::byte>> chunks) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.valid())
    return systemError("cannot create");
  for (std::span<const std::byte> chunk : chunks)
    if (Status status = writeAll(file.get(), chunk); !status.ok())
      return status;
  if (::fsync(file.get()) != 0)
    return systemError("cannot write to the disk");
  return {};
}

/// Something else than a file, such as /dev/null or a pipe, is written into: it must not become a file.
bool isDevice(const std::string &path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

Status writeInto(const std::string &path, std::span<const std::span<const std::byte>> chunks) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid())
    return systemError("cannot open").withContext(path);
  for (std::span<const std::byte> chunk : chunks)
    if (Status status = writeAll(file.get(), chunk); !status.ok())
      return status.withContext(path);
  return {};
}

} // namespace

Status syncDirectory(const std::string &directory) {
  FileDescriptor file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems refuse fsync on a directory (EINVAL): then there is nothing to wait for.
  if (!file.valid() || (::fsync(file.get()) != 0 && errno != EINVAL))
    return systemError("cannot write the directory to the disk");
  return {};
}

Status replaceFile(const std::string &path, std::span<const std::span<const std::byte>> chunks) {
  if (isDevice(path))
    return writeInto(path, chunks);
  uint64_t random = 0; // a process number would meet what a crash in another container left
  if (::getrandom(&random, sizeof random, 0) != sizeof random)
    return systemError("cannot draw a temporary name").withContext(path);
  std::string temporary = path + ".tmp-" + std::to_string(random);
  Status status = writeNewFile(temporary, chunks);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = systemError("cannot rename the temporary file");
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status.withContext(path);
  }
  size_t slash = path.rfind('/');
  return syncDirectory(slash == std::string::npos ? "." : path.substr(0, slash + 1)).withContext(path);
}

} // namespace dlc
