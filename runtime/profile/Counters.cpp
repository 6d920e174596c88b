#include "profile/Counters.h"

#include "drivers/Driver.h"
#include "profile/Recorder.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>

namespace dlc::runtime::profile {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(100);

void countUse(const DeviceUse &use, int64_t time, std::vector<Counted> &counted) {
  auto add = [&](const char *what, const char *unit, std::optional<double> value) {
    if (value)
      counted.push_back({time, use.device + " " + what, unit, *value});
  };
  add("use", "%", use.busy);
  if (use.memoryUsed)
    add("memory", "GiB", double(*use.memoryUsed) / double(int64_t(1) << 30));
  add("power", "W", use.watts);
  add("temperature", "°C", use.celsius);
}

class Sampler {
public:
  explicit Sampler(std::vector<std::unique_ptr<UseProbe>> opened) : probes(std::move(opened)) {
    sample();
    thread = std::thread([this] { run(); });
  }
  ~Sampler() {
    {
      std::lock_guard guard(lock);
      ended = true;
    }
    wake.notify_all();
    thread.join();
    sample();
  }
  Sampler(const Sampler &) = delete;
  Sampler &operator=(const Sampler &) = delete;

  bool isOfThisProcess() const { return owner == ::getpid(); }

private:
  void run() {
    std::unique_lock guard(lock);
    while (!wake.wait_for(guard, kPeriod, [this] { return ended; })) {
      guard.unlock();
      sample();
      guard.lock();
    }
  }

  void sample() {
    std::vector<Counted> counted;
    for (const std::unique_ptr<UseProbe> &probe : probes)
      if (StatusOr<std::vector<DeviceUse>> uses = probe->sample(); uses.ok())
        for (const DeviceUse &use : *uses)
          countUse(use, now(), counted);
    count(std::move(counted));
  }

  pid_t owner = ::getpid();
  std::vector<std::unique_ptr<UseProbe>> probes;
  std::mutex lock;
  std::condition_variable wake;
  bool ended = false;
  std::thread thread;
};

std::mutex running;
Sampler *sampler = nullptr;

} // namespace

void startCounters() {
  std::vector<std::unique_ptr<UseProbe>> probes;
  for (const Driver *driver : kDrivers)
    if (driver->traced)
      if (StatusOr<std::unique_ptr<UseProbe>> probe = driver->watch(); probe.ok())
        probes.push_back(probe.take());
  if (probes.empty())
    return;
  std::lock_guard guard(running);
  sampler = new Sampler(std::move(probes));
  // A program may end without stopping; what the vendor's library needs is still there when this runs.
  static const bool registered = std::atexit(stopCounters) == 0;
  (void)registered;
}

void stopCounters() {
  std::lock_guard guard(running);
  // A fork has no thread to wait for, and a lock that may be held for ever.
  if (sampler && sampler->isOfThisProcess())
    delete sampler;
  sampler = nullptr;
}

} // namespace dlc::runtime::profile
