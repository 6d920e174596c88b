#include "drivers/cuda/CudnnApi.h"

#include "drivers/cuda/VendorLibrary.h"

#include <algorithm>
#include <string>

namespace dlc::runtime::cudnn {

namespace {

/// Results come in thousands: 3xxx is "not supported", for instance.
constexpr int categoryOf(int result) { return result / 1000 * 1000; }

const char *adviceFor(int result) {
  if (result == kHostMemory || result == kDeviceMemory)
    return "end other programs on the device, or use smaller batches";
  if (result == kNotInitialized)
    return "the driver may be older than the library; see nvidia-smi";
  if (categoryOf(result) == kExecutionFailed)
    return "run under compute-sanitizer";
  return "compile with --conv=generated";
}

constexpr VendorLibrary kLibrary = {"", "libcudnn.so.9", nullptr, "; install it, or compile with --conv=generated",
                                    "; install cuDNN 9, or compile with --conv=generated"};

} // namespace

StatusOr<const Api *> Api::load() {
  static Api api;
  static const Status opened = kLibrary.load({
#define DLC_CUDNN_FIELD(result, name, ...) {reinterpret_cast<void **>(&api.name), #name},
      DLC_CUDNN_API(DLC_CUDNN_FIELD)
#undef DLC_CUDNN_FIELD
  });
  if (!opened.ok())
    return opened;
  return &api;
}

Status Api::status(int result, std::string_view function) const {
  if (result == kSuccess)
    return {};
  std::string message = std::string(function) + ": " + cudnnGetErrorString(result);
  char more[512] = {};
  cudnnGetLastErrorString(more, sizeof more);
  if (*more) {
    std::replace(std::begin(more), std::end(more), '\n', ' ');
    message += std::string(": ") + more;
  }
  bool isMemory = result == kHostMemory || result == kDeviceMemory;
  return {isMemory ? StatusCode::LimitExceeded : StatusCode::Internal, message + ": " + adviceFor(result)};
}

} // namespace dlc::runtime::cudnn
