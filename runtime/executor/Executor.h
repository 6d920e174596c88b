#pragma once

#include "dlc/runtime/Abi.h"
#include "drivers/cpu/WorkerTeam.h"

/// What compiled code hands back to the runtime with each service call.
struct DlcExecutor {
  dlc::WorkerTeam *team = nullptr;
  int32_t code = DLC_OK; ///< of the last failed call, with the site and a number that belongs to it
  uint32_t site = 0;
  int64_t detail = 0;
};

namespace dlc {

/// The services of the cpu driver.
extern const DlcApi kCpuApi;

} // namespace dlc
