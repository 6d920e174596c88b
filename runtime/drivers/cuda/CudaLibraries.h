#pragma once

#include "drivers/cuda/LibraryKernel.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace dlc::runtime {

/// The vendor's libraries on one device, opened when the first program that calls one is loaded.
class CudaLibraries {
public:
  /// Those that can be opened here, by the names of LibraryCall::library.
  static std::vector<std::string> found();

  /// The device's context must be the thread's. The handle is there for as long as someone holds the result.
  StatusOr<std::shared_ptr<DeviceLibrary>> open(std::string_view name);

private:
  std::mutex lock;
  std::map<std::string, std::weak_ptr<DeviceLibrary>, std::less<>> opened;
};

} // namespace dlc::runtime
