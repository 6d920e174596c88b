#pragma once

#include "dlc/runtime/DeviceUse.h"

namespace dlc::runtime {

/// The use of this machine's processors and memory, as /proc shows it.
StatusOr<std::unique_ptr<UseProbe>> watchCpu();

} // namespace dlc::runtime
