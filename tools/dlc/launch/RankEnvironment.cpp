#include "launch/RankEnvironment.h"

#include <algorithm>
#include <charconv>
#include <sched.h>
#include <string_view>

namespace dlc::launch {

int usableProcessors() {
  cpu_set_t allowed;
  return ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

int threadShare(int processors, int ranks, const std::string &devices) {
  constexpr std::string_view manyOnCpu = "cpu:";
  int devicesOfRank = 1;
  if (devices.starts_with(manyOnCpu))
    std::from_chars(devices.data() + manyOnCpu.size(), devices.data() + devices.size(), devicesOfRank);
  return std::max(1, processors / ranks / std::max(1, devicesOfRank));
}

runtime::Environment sharedVariables(runtime::Environment base, const Arguments &arguments, const MeetingPoint &point) {
  runtime::Environment variables = std::move(base);
  // What an outer job said of this process is not so of its ranks.
  for (const char *name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "DLC_SECRET_FILE"})
    variables.erase(name);
  variables["MASTER_ADDR"] = point.host;
  variables["MASTER_PORT"] = std::to_string(point.port);
  variables["DLC_SECRET"] = point.secret;
  variables["DLC_STORE"] = "external";
  variables["DLC_GENERATION"] = std::to_string(point.generation);
  if (!arguments.timeout.empty())
    variables["DLC_TIMEOUT"] = arguments.timeout;
  else if (variables["DLC_TIMEOUT"].empty())
    variables["DLC_TIMEOUT"] = "300";
  if (!arguments.engine.empty())
    variables["DLC_COMM"] = arguments.engine;
  if (!arguments.devices.empty())
    variables["DLC_DEVICES"] = arguments.devices;
  auto devices = variables.find("DLC_DEVICES");
  std::string threads = std::to_string(
      threadShare(usableProcessors(), arguments.ranks, devices == variables.end() ? std::string() : devices->second));
  for (const char *name : {"DLC_THREADS", "OMP_NUM_THREADS"})
    if (variables[name].empty())
      variables[name] = threads;
  return variables;
}

void setPlace(runtime::Environment &variables, const RankPlace &place) {
  variables["RANK"] = std::to_string(place.rank);
  variables["WORLD_SIZE"] = std::to_string(place.worldSize);
  variables["LOCAL_RANK"] = std::to_string(place.localRank);
  variables["LOCAL_WORLD_SIZE"] = std::to_string(place.localWorldSize);
}

std::vector<std::string> texts(const runtime::Environment &variables) {
  std::vector<std::string> result;
  for (const auto &[name, value] : variables) {
    result.push_back(name);
    result.back().append("=").append(value);
  }
  return result;
}

} // namespace dlc::launch
