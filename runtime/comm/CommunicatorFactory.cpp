#include "comm/ChooseEngine.h"
#include "comm/inprocess/InProcess.h"
#include "comm/nccl/Nccl.h"
#include "comm/shm/Shm.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>
#include <unistd.h>

namespace dlc::runtime {

namespace {

/// Where the plug-in of an engine would be; empty: the runtime does not know where it lies itself.
std::string pluginPath(std::string_view engine) {
  Dl_info self{};
  if (!dladdr(reinterpret_cast<const void *>(&inProcessFactory), &self))
    return {};
  std::filesystem::path folder = std::filesystem::path(self.dli_fname).parent_path();
  return (folder / ("libdlc_comm_" + std::string(engine) + ".so")).string();
}

} // namespace

bool hasPlugin(std::string_view engine) { return access(pluginPath(engine).c_str(), R_OK) == 0; }

StatusOr<CommunicatorFactory *> CommunicatorFactory::open(std::string_view engine) {
  if (engine == "inprocess")
    return &inProcessFactory();
  if (engine == "auto")
    return &autoFactory();
  if (engine == "shm")
    return &shmFactory();
  if (engine == "nccl")
    return &ncclFactory();
  std::string name(engine);
  // The name becomes part of a path.
  if (name.empty() || name.size() > 32 ||
      !std::all_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; }))
    return Status(StatusCode::InvalidInput,
                  "expects a communicator such as inprocess, shm or gloo, got '" + name + "'");
  std::string path = pluginPath(name);
  if (path.empty())
    return Status(StatusCode::Internal, "the runtime does not know where it lies");
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status(StatusCode::InvalidInput, "there is no communicator '" + name + "' here: " + dlerror());
  auto *factory = reinterpret_cast<CommunicatorFactory *(*)()>(dlsym(library, "dlc_comm_factory"));
  if (!factory)
    return Status(StatusCode::InvalidInput, path + " is no communicator: " + dlerror());
  return factory();
}

namespace {

Status checkGroup(const Group &group) {
  if (group.members.empty() || group.members.size() > 65536)
    return {StatusCode::InvalidInput,
            "group '" + group.name + "': expects 1 to 65536 members, got " + std::to_string(group.members.size())};
  if (group.rank < 0 || group.rank >= int(group.members.size()))
    return {StatusCode::InvalidInput, "group '" + group.name + "': expects a rank below " +
                                          std::to_string(group.members.size()) + ", got " + std::to_string(group.rank)};
  return {};
}

} // namespace

StatusOr<std::unique_ptr<Communicator>> CommunicatorFactory::create(Store &store, const Group &group, int channel,
                                                                    uint64_t generation, Deadline deadline,
                                                                    const CommunicatorOptions &options) {
  if (Status status = checkGroup(group); !status.ok())
    return status;
  CommunicatorOptions known = options;
  if (const char *text = std::getenv("DLC_COMM_EMULATE"); text && *text && !known.network) {
    StatusOr<EmulatedNetwork> network = parseEmulatedNetwork(text);
    if (!network.ok())
      return network.status().withContext("DLC_COMM_EMULATE");
    known.network = *network;
  }
  Group mine = group;
  mine.channel = channel;
  return make(store, mine, channel, generation, deadline, known);
}

} // namespace dlc::runtime
