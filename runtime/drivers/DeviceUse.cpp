#include "dlc/runtime/DeviceUse.h"

#include "drivers/Driver.h"

namespace dlc::runtime {

namespace {

/// For devices that live inside processes: what this one has of them.
class OwnUse : public UseProbe {
public:
  OwnUse(std::string_view kind, int count) : kind(kind), count(count) {}

  StatusOr<std::vector<DeviceUse>> sample() override {
    std::vector<DeviceUse> result;
    for (int index = 0; index < count; ++index) {
      StatusOr<Device *> device = Device::open({kind, index});
      if (!device.ok())
        return device.status();
      DeviceUse &use = result.emplace_back();
      use.device = (*device)->id().str();
      use.name = (*device)->description() + ", of this process alone";
      use.memoryUsed = (*device)->memoryStats().reserved;
      use.memoryTotal = (*device)->memoryBytes();
    }
    return result;
  }

private:
  std::string kind;
  int count;
};

StatusOr<std::unique_ptr<UseProbe>> probeOf(const Driver &driver) {
  if (driver.watch)
    return driver.watch();
  StatusOr<int> count = driver.count();
  if (!count.ok())
    return count.status();
  return std::unique_ptr<UseProbe>(new OwnUse(driver.kind, *count));
}

} // namespace

std::vector<UseSource> useSources() {
  std::vector<UseSource> sources;
  for (const Driver *driver : kDrivers) {
    StatusOr<std::unique_ptr<UseProbe>> probe = probeOf(*driver);
    UseSource &source = sources.emplace_back();
    source.kind = driver->kind;
    if (probe.ok())
      source.probe = probe.take();
    else
      source.why = probe.status().message();
  }
  return sources;
}

} // namespace dlc::runtime
