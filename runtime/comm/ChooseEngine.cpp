#include "comm/ChooseEngine.h"
#include "comm/host/Host.h"
#include "comm/host/HostCommunicator.h"
#include "comm/nccl/NcclApi.h"
#include "comm/nccl/NcclDevice.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <set>

#include <unistd.h>

namespace dlc::runtime {

namespace {

/// Empty where NCCL is of no use to this member.
std::string deviceOf(const Group &group, const CommunicatorOptions &options) {
  if (group.device.empty() || options.fixedOrder || options.network || !nccl::Api::load().ok())
    return {};
  StatusOr<std::string> address = NcclDevice::addressOf(group.device);
  return address.ok() ? *address : std::string();
}

MemberPlace ownPlace(const Group &group, const CommunicatorOptions &options) {
  bool mpirun = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  return {hostIdentity(), getpid(), mpirun && hasPlugin("mpi"), hasPlugin("gloo"), deviceOf(group, options)};
}

std::string textOf(const MemberPlace &place) {
  return std::string(place.mpi ? "m" : "-") + (place.gloo ? "g" : "-") + std::to_string(place.process) + " " +
         place.device + " " + place.host;
}

MemberPlace placeOf(const std::string &text) {
  MemberPlace place;
  if (text.size() < 2)
    return place;
  place.mpi = text[0] == 'm';
  place.gloo = text[1] == 'g';
  const char *end = std::from_chars(text.data() + 2, text.data() + text.size(), place.process).ptr;
  std::string_view rest(end, size_t(text.data() + text.size() - end));
  rest.remove_prefix(std::min<size_t>(1, rest.size()));
  size_t space = std::min(rest.find(' '), rest.size());
  place.device = rest.substr(0, space);
  place.host = rest.substr(std::min(space + 1, rest.size()));
  return place;
}

class AutoFactory final : public CommunicatorFactory {
  StatusOr<std::unique_ptr<Communicator>> make(Store &store, const Group &group, int channel, uint64_t generation,
                                               Deadline deadline, const CommunicatorOptions &options) override {
    StatusOr<std::vector<std::string>> told = exchange(store, storeKey(group, channel, generation) + "/place/", group,
                                                       textOf(ownPlace(group, options)), deadline);
    if (!told.ok())
      return told.status();
    std::vector<MemberPlace> places;
    for (const std::string &text : *told)
      places.push_back(placeOf(text));
    StatusOr<std::string> engine = chooseEngine(places);
    if (!engine.ok())
      return engine.status().withContext("group '" + group.name + "'");
    if (const char *remarks = std::getenv("DLC_COMM_REMARKS"); remarks && *remarks && group.rank == 0)
      std::fprintf(stderr, "remark: group '%s', channel %d: %zu members use %s\n", group.name.c_str(), channel,
                   places.size(), engine->c_str());
    StatusOr<CommunicatorFactory *> factory = open(*engine);
    if (!factory.ok())
      return factory.status();
    return (*factory)->create(store, group, channel, generation, deadline, options);
  }
};

} // namespace

StatusOr<std::string> chooseEngine(std::span<const MemberPlace> places) {
  auto all = [&](auto holds) { return std::all_of(places.begin(), places.end(), holds); };
  bool oneHost = all([&](const MemberPlace &each) { return each.host == places.front().host; });
  std::set<std::string> devices;
  for (const MemberPlace &each : places)
    devices.insert(each.device);
  if (oneHost && devices.size() == places.size() && !devices.contains(""))
    return std::string("nccl");
  if (oneHost)
    return std::string(
        all([&](const MemberPlace &each) { return each.process == places.front().process; }) ? "inprocess" : "shm");
  auto together = [](const MemberPlace &one, const MemberPlace &other) {
    return one.host == other.host && one.process == other.process;
  };
  bool apart = true;
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      apart = apart && !together(places[i], places[j]);
  if (apart && all([](const MemberPlace &each) { return each.mpi; }))
    return std::string("mpi");
  if (all([](const MemberPlace &each) { return each.gloo; }))
    return std::string("gloo");
  return Status(StatusCode::InvalidInput,
                "expects libdlc_comm_gloo.so, or libdlc_comm_mpi.so and mpirun, where members are on several hosts, "
                "got neither on all of them");
}

CommunicatorFactory &autoFactory() {
  static AutoFactory factory;
  return factory;
}

} // namespace dlc::runtime
