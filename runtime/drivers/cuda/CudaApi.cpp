#include "drivers/cuda/CudaApi.h"

#include "drivers/cuda/VendorLibrary.h"

#include <algorithm>
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

constexpr VendorLibrary kLibrary = {"no NVIDIA driver: ", "libcuda.so.1", nullptr, "", "; install a newer driver"};

} // namespace

StatusOr<const CudaApi *> CudaApi::load() {
  static CudaApi api;
  static const Status opened = kLibrary.load({
#define DLC_CUDA_FIELD(name, symbol, ...) {reinterpret_cast<void **>(&api.name), #symbol},
      DLC_CUDA_API(DLC_CUDA_FIELD)
#undef DLC_CUDA_FIELD
  });
  api.replaced = VendorLibrary::replacement() != nullptr;
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
