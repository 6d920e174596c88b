#pragma once

#include "base/ObjectReader.h"
#include "dlc/runtime/Manifest.h"

namespace dlc {

/// Reads one of the manifest's "kernels"; faults go to `fault`.
KernelInfo readKernel(ObjectReader &reader, Status &fault);

nlohmann::json kernelJson(const KernelInfo &kernel);

} // namespace dlc
