#pragma once

#include "dlc/runtime/Status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlc::runtime {

/// How busy a device is, whoever keeps it so; what cannot be told is absent.
struct DeviceUse {
  /// Who has work on it.
  struct Process {
    int64_t pid = 0;
    std::string name; ///< empty where this system does not show it
    std::optional<int64_t> bytes;
  };

  std::string device;                             ///< "cpu", "sim:0", "gpu 0" as NVIDIA's tools count
  std::string name;                               ///< what it is, for people
  std::string address = {};                       ///< on the bus: "00000000:65:00.0"
  std::optional<double> busy;                     ///< percent of the last while, of all its processors
  std::optional<int64_t> memoryUsed, memoryTotal; ///< bytes
  std::optional<double> watts, wattsLimit;
  std::optional<double> celsius;
  std::vector<Process> processes;
  std::string failure; ///< the first question it did not answer, one sentence; empty: none
};

/// Asks the devices of one kind how busy they are.
class UseProbe {
public:
  virtual ~UseProbe() = default;
  /// One for each device, in the order of their numbers.
  virtual StatusOr<std::vector<DeviceUse>> sample() = 0;
};

/// The devices of one kind, as Device::kinds lists them.
struct UseSource {
  std::string kind;
  std::unique_ptr<UseProbe> probe; ///< null where there is none
  std::string why;                 ///< why there is none, one sentence
};
std::vector<UseSource> useSources();

} // namespace dlc::runtime
