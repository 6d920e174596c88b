#pragma once

#include "dlc/runtime/Abi.h"
#include "dlc/runtime/Device.h"
#include "drivers/cpu/WorkerTeam.h"
#include "executor/Replay.h"

namespace dlc::runtime {
class Collectives;
}

/// What compiled code hands back to the runtime with each service call.
struct DlcExecutor {
  /// On the cpu.
  dlc::WorkerTeam *team = nullptr;
  /// On other devices: where work goes, and who gives it there.
  dlc::runtime::Stream *stream = nullptr;
  dlc::Replay *replay = nullptr;
  /// Of a program with a mesh.
  dlc::runtime::Collectives *collectives = nullptr;
  dlc::Status refusal; ///< of the last service that was refused

  int32_t code = DLC_OK; ///< of the last failed call, with the site and a number that belongs to it
  uint32_t site = 0;
  int64_t detail = 0;
};

namespace dlc {

/// The services of entries that run on the cpu.
extern const DlcApi kCpuApi;
/// The services of entries that start kernels on another device.
extern const DlcApi kDeviceApi;

} // namespace dlc
