#include "drivers/cpu/CpuUse.h"

#include "dlc/runtime/Device.h"
#include "memory/Pages.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace dlc::runtime {

namespace {

/// Time of all processors since the start, in the kernel's ticks.
struct Ticks {
  int64_t busy = 0, all = 0;
};

Ticks readTicks() {
  std::ifstream file("/proc/stat");
  std::string label;
  std::array<int64_t, 8> spent{}; // user nice system idle iowait irq softirq steal
  file >> label;
  for (int64_t &each : spent)
    file >> each;
  if (!file || label != "cpu")
    return {};
  Ticks ticks;
  for (int64_t each : spent)
    ticks.all += each;
  ticks.busy = ticks.all - spent[3] - spent[4];
  return ticks;
}

class CpuUse : public UseProbe {
public:
  StatusOr<std::vector<DeviceUse>> sample() override {
    StatusOr<Device *> device = Device::open({"cpu", 0});
    if (!device.ok())
      return device.status();
    DeviceUse use;
    use.device = (*device)->id().str();
    use.name = (*device)->description();
    double load = 0;
    if (::getloadavg(&load, 1) == 1) {
      std::array<char, 32> text{};
      std::snprintf(text.data(), text.size(), ", load %.2f", load);
      use.name += text.data();
    }
    Ticks ticks = readTicks();
    // The kernel counts in ticks of 10 ms, and what waits for a disk may even be counted back.
    if (int64_t all = ticks.all - last.all, busy = ticks.busy - last.busy; all > 0 && busy >= 0 && busy <= all)
      use.busy = 100.0 * double(busy) / double(all);
    last = ticks;
    use.memoryTotal = Pages::installedBytes();
    if (int64_t available = Pages::availableBytes(); available <= *use.memoryTotal)
      use.memoryUsed = *use.memoryTotal - available;
    return std::vector<DeviceUse>{std::move(use)};
  }

private:
  Ticks last = readTicks();
};

} // namespace

StatusOr<std::unique_ptr<UseProbe>> watchCpu() { return std::unique_ptr<UseProbe>(new CpuUse()); }

} // namespace dlc::runtime
