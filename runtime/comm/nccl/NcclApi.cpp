#include "comm/nccl/NcclApi.h"

#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <utility>

namespace dlc::runtime::nccl {

namespace {

Status open(Api &api) {
  const char *replacement = std::getenv("DLC_GPU_LIBRARY");
  bool replaced = replacement && *replacement;
  std::string path = replaced ? replacement : "libnccl.so.2";
  // To the end of the program: it has threads.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {StatusCode::InvalidInput, replaced ? "DLC_GPU_LIBRARY: " + std::string(dlerror())
                                               : "no NCCL: libnccl.so.2 was not found; install it, or use --comm=auto"};
  for (const auto &[field, symbol] : {
#define DLC_NCCL_FIELD(result, name, ...) std::pair{reinterpret_cast<void **>(&api.name), #name},
           DLC_NCCL_API(DLC_NCCL_FIELD)
#undef DLC_NCCL_FIELD
       })
    if (void *found = dlsym(library, symbol))
      *field = found;
    else
      return {StatusCode::InvalidInput, path + " has no " + symbol + "; install NCCL 2.18 or newer"};
  return {};
}

} // namespace

StatusOr<const Api *> Api::load() {
  static Api api;
  static const Status opened = open(api);
  if (!opened.ok())
    return opened;
  return &api;
}

Status Api::status(int result, std::string_view function, Comm comm) const {
  if (result == kSuccess || result == kInProgress)
    return {};
  std::string message = std::string(function) + ": " + ncclGetErrorString(result);
  if (const char *more = ncclGetLastError(comm); more && *more)
    message += std::string(": ") + more;
  return {result == kRemoteError ? StatusCode::PeerFailed : StatusCode::Internal, std::move(message)};
}

} // namespace dlc::runtime::nccl
