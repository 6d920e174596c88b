#include "drivers/cuda/CudaApi.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <iterator>
#include <string>

namespace dlc::runtime {

namespace {

struct ResultInfo {
  int value;
  bool fatal;
  const char *name, *advice;
};

constexpr ResultInfo kResults[] = {
#define DLC_CUDA_RESULT(ours, theirs, value, fatal, advice) {value, fatal, #theirs, advice},
    DLC_CUDA_RESULTS(DLC_CUDA_RESULT)
#undef DLC_CUDA_RESULT
};

const ResultInfo *find(int result) {
  const auto *found =
      std::find_if(std::begin(kResults), std::end(kResults), [&](const auto &each) { return each.value == result; });
  return found == std::end(kResults) ? nullptr : found;
}

Status open(CudaApi &api) {
  const char *replacement = std::getenv("DLC_GPU_LIBRARY");
  api.replaced = replacement && *replacement;
  std::string name = api.replaced ? replacement : "libcuda.so.1";
  // To the end of the program: the driver's threads run its code.
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {StatusCode::InvalidInput, api.replaced ? "DLC_GPU_LIBRARY: " + std::string(dlerror())
                                                   : "no NVIDIA driver: libcuda.so.1 was not found"};
  for (const auto &[field, symbol] : {
#define DLC_CUDA_FIELD(name, symbol, ...) std::pair{reinterpret_cast<void **>(&api.name), #symbol},
           DLC_CUDA_API(DLC_CUDA_FIELD)
#undef DLC_CUDA_FIELD
       })
    if (void *found = dlsym(library, symbol))
      *field = found;
    else
      return {StatusCode::InvalidInput, name + " has no " + symbol + "; install a newer driver"};
  return {};
}

} // namespace

StatusOr<const CudaApi *> CudaApi::load() {
  static CudaApi api;
  static const Status opened = open(api);
  if (!opened.ok())
    return opened;
  return &api;
}

Status CudaApi::status(int result, std::string_view function) const {
  if (result == kSuccess)
    return {};
  const char *name = nullptr;
  const ResultInfo *info = find(result);
  if (cuGetErrorName(result, &name) != kSuccess || !name)
    name = info ? info->name : nullptr;
  std::string message = std::string(function) + ": " + (name ? name : "CUDA error " + std::to_string(result));
  if (info && *info->advice)
    message += std::string(": ") + info->advice;
  return {result == kOutOfMemory ? StatusCode::LimitExceeded : StatusCode::Internal, std::move(message)};
}

bool endsDevice(int result) {
  const ResultInfo *info = find(result);
  return info && info->fatal;
}

} // namespace dlc::runtime
