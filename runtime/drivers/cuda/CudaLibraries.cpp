#include "drivers/cuda/CudaLibraries.h"

#include "drivers/cuda/CublasLt.h"
#include "drivers/cuda/Cudnn.h"

#include <algorithm>
#include <iterator>

namespace dlc::runtime {

namespace {

/// One the code for CUDA devices knows; a new one adds its line.
struct Known {
  std::string_view name, title;
  bool (*isFound)();
  StatusOr<std::shared_ptr<DeviceLibrary>> (*open)();
};
constexpr Known kKnown[] = {
    {"cublaslt", "cuBLASLt", [] { return cublaslt::Api::load().ok(); }, cublaslt::open},
    {"cudnn", "cuDNN", [] { return cudnn::Api::load().ok(); }, cudnn::open},
};

} // namespace

std::vector<std::string> CudaLibraries::found() {
  std::vector<std::string> names;
  for (const Known &each : kKnown)
    if (each.isFound())
      names.emplace_back(each.name);
  return names;
}

StatusOr<std::shared_ptr<DeviceLibrary>> CudaLibraries::open(std::string_view name) {
  std::lock_guard guard(lock);
  if (auto known = opened.find(name); known != opened.end())
    if (std::shared_ptr<DeviceLibrary> library = known->second.lock())
      return library;
  const Known *known =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known &each) { return each.name == name; });
  if (known == std::end(kKnown))
    return Status(StatusCode::InvalidInput, "the program calls " + std::string(name) + ", which is not known here");
  StatusOr<std::shared_ptr<DeviceLibrary>> library = known->open();
  if (!library.ok())
    return library.status().withContext("the program calls " + std::string(known->title));
  opened[std::string(name)] = *library;
  return library;
}

Status checkAlignment(const void *address, int64_t alignment, int64_t operand) {
  if (reinterpret_cast<uintptr_t>(address) % uintptr_t(alignment) == 0)
    return {};
  return {StatusCode::InvalidInput,
          "operand " + std::to_string(operand) + " is not at a multiple of " + std::to_string(alignment) + " bytes"};
}

} // namespace dlc::runtime
