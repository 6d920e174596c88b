#pragma once

#include "dlc/runtime/Communicator.h"

namespace dlc::runtime {

/// Members are threads of one process and read each other's memory.
CommunicatorFactory &inProcessFactory();

} // namespace dlc::runtime
