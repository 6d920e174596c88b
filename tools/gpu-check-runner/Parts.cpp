#include "Parts.h"

#include <unistd.h>

namespace dlc::gpucheck {

std::span<const Part> parts() {
  static constexpr Part all[] = {
      {"device", "driver, device, libraries, loading of kernels", 40, checkDevice},
      {"conformance", "what every device must do the same way", 80, checkConformance},
      {"ops", "values and gradients of every op against the reference", 120, checkOps},
      {"speed", "kernels against the device's peaks", 110, checkSpeed},
      {"models", "training steps: losses, time, PyTorch's time", 100, checkModels},
      {"graphs", "steps as graphs and as launches", 40, checkGraphs},
      {"end", "memory, a timeline, faults", 30, checkEnd},
  };
  return all;
}

void forEachItem(const Context &context, const Json &names, const std::function<void(size_t index)> &one) {
  for (size_t index = context.from; index < names.size(); ++index) {
    begin(index, names[index].get<std::string>());
    one(index);
    StatusOr<runtime::Device *> device = runtime::Device::open(context.device);
    if (device.ok() && !(*device)->failure().ok())
      ::_exit(kDeviceFailed);
  }
}

bool hasLibraries(const Context &context) {
  StatusOr<runtime::Device *> device = runtime::Device::open(context.device);
  return device.ok() && (*device)->libraries().size() >= 2;
}

} // namespace dlc::gpucheck
