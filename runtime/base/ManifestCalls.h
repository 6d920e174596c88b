#pragma once

#include "base/ObjectReader.h"
#include "dlc/runtime/Manifest.h"

namespace dlc {

/// Reads the "call" of one of the manifest's "kernels", whose name and operands are known; everything it will read or
/// write is checked to lie in them. Faults go to `fault`.
LibraryCall readCall(ObjectReader &reader, const KernelInfo &kernel, Status &fault);

nlohmann::json callJson(const LibraryCall &call);

} // namespace dlc
