#include "rendezvous/Secret.h"

#include "base/FileDescriptor.h"
#include "base/FileError.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dlc::runtime {

StatusOr<std::string> readSecret(const Contract &contract) {
  constexpr size_t longestSecret = 4096;
  const std::string &path = contract.secretFile;
  if (path.empty())
    return contract.secret;
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts{};
  if (!file.valid() || ::fstat(file.get(), &facts) != 0)
    return systemError("DLC_SECRET_FILE " + path + ": cannot open");
  if (!S_ISREG(facts.st_mode) || (facts.st_mode & 077U) != 0)
    return invalidFile("DLC_SECRET_FILE " + path + " expects a file that only its user can read; run chmod 600 " +
                       path);
  std::string secret(longestSecret + 1, '\0');
  ssize_t size = ::read(file.get(), secret.data(), secret.size());
  if (size < 0)
    return systemError("DLC_SECRET_FILE " + path + ": cannot read");
  secret.resize(static_cast<size_t>(size));
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r'))
    secret.pop_back(); // an editor's
  if (secret.empty() || secret.size() > longestSecret)
    return invalidFile("DLC_SECRET_FILE " + path + " expects 1 to " + std::to_string(longestSecret) + " bytes");
  return secret;
}

} // namespace dlc::runtime
