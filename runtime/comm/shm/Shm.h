#pragma once

#include "dlc/runtime/Communicator.h"

namespace dlc::runtime {

/// Members are processes, or threads, of one host and share memory.
CommunicatorFactory &shmFactory();

} // namespace dlc::runtime
