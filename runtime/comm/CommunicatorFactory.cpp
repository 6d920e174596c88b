#include "comm/inprocess/InProcess.h"

#include <algorithm>
#include <filesystem>

#include <dlfcn.h>

namespace dlc::runtime {

StatusOr<CommunicatorFactory *> CommunicatorFactory::open(std::string_view engine) {
  if (engine == "inprocess")
    return &inProcessFactory();
  std::string name(engine);
  // The name becomes part of a path.
  if (name.empty() || name.size() > 32 ||
      !std::all_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; }))
    return Status(StatusCode::InvalidInput, "expects a communicator such as inprocess or gloo, got '" + name + "'");
  Dl_info self{};
  if (!dladdr(reinterpret_cast<const void *>(&inProcessFactory), &self))
    return Status(StatusCode::Internal, "the runtime does not know where it lies");
  std::string path = (std::filesystem::path(self.dli_fname).parent_path() / ("libdlc_comm_" + name + ".so")).string();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status(StatusCode::InvalidInput, "there is no communicator '" + name + "' here: " + dlerror());
  auto *factory = reinterpret_cast<CommunicatorFactory *(*)()>(dlsym(library, "dlc_comm_factory"));
  if (!factory)
    return Status(StatusCode::InvalidInput, path + " is no communicator: " + dlerror());
  return factory();
}

} // namespace dlc::runtime
