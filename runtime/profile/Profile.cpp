#include "dlc/runtime/Profile.h"

#include "base/FileDescriptor.h"
#include "base/FileError.h"
#include "dlc/runtime/Rendezvous.h"
#include "profile/Counters.h"
#include "profile/Recorder.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <optional>

namespace dlc::runtime::profile {
namespace {

struct Target {
  std::mutex lock;
  std::string path; ///< of the trace, once started
  std::optional<Identity> given;
  Identity identity;
  bool environmentRead = false;
};

/// Used while the program ends, so never destroyed.
Target &target() {
  static auto *instance = new Target;
  return *instance;
}

Identity identityFromEnvironment() {
  StatusOr<Contract> contract = detectContract(currentEnvironment());
  return contract.ok() ? Identity{contract->rank, contract->worldSize} : Identity{};
}

/// "trace.json" → "trace.rank2.json".
std::string pathOfRank(const std::string &path, const Identity &identity) {
  if (identity.worldSize == 1)
    return path;
  size_t name = path.rfind('/') + 1; // npos + 1 is 0
  size_t dot = path.rfind('.');
  if (dot == std::string::npos || dot <= name)
    dot = path.size();
  return path.substr(0, dot) + ".rank" + std::to_string(identity.rank) + path.substr(dot);
}

/// In place, not by a temporary: a trace may go to a pipe or a device, and half of one is worth nothing to keep.
Status writeTrace(const std::string &path, std::string_view text) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid())
    return systemError("cannot write the trace").withContext(path);
  while (!text.empty()) {
    ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return systemError("cannot write the trace").withContext(path);
    if (written > 0)
      text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

void stopAtExit() {
  if (!on())
    return;
  std::string path;
  {
    std::lock_guard guard(target().lock);
    path = target().path;
  }
  Summary total = summary();
  Status status = stop();
  if (status.ok())
    std::fprintf(stderr, "dlc: profile: %s; %s\n", total.str().c_str(), path.c_str());
  else
    std::fprintf(stderr, "dlc: profile: %s; %s\n", total.str().c_str(), status.message().c_str());
}

} // namespace

void setRank(int rank, int worldSize) {
  std::lock_guard guard(target().lock);
  target().given = Identity{rank, worldSize};
}

Status start(const std::string &path) {
  Target &to = target();
  std::lock_guard guard(to.lock);
  Identity identity = to.given ? *to.given : identityFromEnvironment();
  std::string own = pathOfRank(path, identity);
  // Said now and not after hours of training. Without O_TRUNC: an earlier trace stays until there is a new one.
  FileDescriptor probe(::open(own.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
  if (!probe.valid())
    return systemError("cannot write the trace").withContext(own);
  stopCounters();
  clear();
  to.path = own;
  to.identity = identity;
  to.environmentRead = true;
  detail::recording = true;
  startCounters();
  return {};
}

Status stop() {
  Target &to = target();
  std::lock_guard guard(to.lock);
  if (!detail::recording.exchange(false))
    return {};
  stopCounters();
  return writeTrace(to.path, traceJson(recorded(), to.identity));
}

void startFromEnvironment() {
  {
    std::lock_guard guard(target().lock);
    if (std::exchange(target().environmentRead, true))
      return;
  }
  const char *path = std::getenv("DLC_PROFILE");
  if (!path || !*path)
    return;
  if (Status status = start(path); !status.ok()) {
    std::fprintf(stderr, "dlc: DLC_PROFILE: %s; this run is not profiled\n", status.message().c_str());
    return;
  }
  std::atexit(stopAtExit);
}

} // namespace dlc::runtime::profile
