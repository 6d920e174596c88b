#include "drivers/Driver.h"

#include <dlfcn.h>

namespace dlc::runtime {

static StatusOr<int> count() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status(StatusCode::InvalidInput, "no NVIDIA driver: libcuda.so.1 was not found");
  dlclose(library);
  return Status(StatusCode::InvalidInput, "libcuda.so.1 is here, but this version of dlc cannot use it yet");
}

static StatusOr<std::unique_ptr<Device>> open(int) { return count().status(); }

const Driver kCudaDriver = {"cuda", count, open};

} // namespace dlc::runtime
