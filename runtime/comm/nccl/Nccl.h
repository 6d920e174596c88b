#pragma once

#include "dlc/runtime/Communicator.h"

namespace dlc::runtime {

/// Members are on CUDA devices of one host, each on its own (Group::device), and NCCL moves the elements.
CommunicatorFactory &ncclFactory();

} // namespace dlc::runtime
