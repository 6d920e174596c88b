#pragma once

#include "dlc/runtime/SimAbi.h"

namespace dlc {

/// What kernels compiled for simulated devices call: the value of an image's `*simApi`. One table for the process.
const DlcSimApi *simServices();

} // namespace dlc
