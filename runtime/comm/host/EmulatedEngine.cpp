#include "comm/host/EmulatedEngine.h"

#include <charconv>
#include <condition_variable>
#include <mutex>
#include <numeric>

namespace dlc::runtime {

namespace {

using Kind = Operation::Kind;

class EmulatedEngine final : public HostEngine {
public:
  EmulatedEngine(std::unique_ptr<HostEngine> engine, const EmulatedNetwork &network, int size)
      : engine(std::move(engine)), network(network), size(size) {}

  std::string_view name() const override { return engine->name(); }

  Status run(const Operation &operation) override {
    auto start = std::chrono::steady_clock::now();
    double seconds = network.latencySeconds;
    if (network.bytesPerSecond > 0)
      seconds += bytesOf(operation) / network.bytesPerSecond;
    Status status = engine->run(operation);
    if (!status.ok() || size == 1)
      return status;
    auto done = start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(std::min(seconds, 1e6)));
    std::unique_lock guard(lock);
    return ended.wait_until(guard, done, [&] { return !why.ok(); }) ? why : Status();
  }

  void interrupt(const Status &reason) noexcept override {
    {
      std::lock_guard guard(lock);
      if (why.ok())
        why = reason;
      ended.notify_all();
    }
    engine->interrupt(reason);
  }

  std::vector<int> awaited() const override { return engine->awaited(); }

private:
  /// What one member sends.
  double bytesOf(const Operation &operation) const {
    double bytes = double(operation.count) * double(byteSize(operation.type));
    switch (operation.kind) {
    case Kind::AllReduce:
      return 2 * bytes * (size - 1) / size;
    case Kind::ReduceScatter:
    case Kind::AllGather:
      return bytes * (size - 1); // the count is that of one part
    case Kind::AllToAll:
      return double(std::accumulate(operation.inCounts.begin(), operation.inCounts.end(), int64_t(0))) *
             double(byteSize(operation.type)) * (size - 1) / size;
    case Kind::Broadcast:
    case Kind::Send:
    case Kind::Receive:
      return bytes;
    case Kind::Barrier:
      return 0;
    }
    return 0;
  }

  std::unique_ptr<HostEngine> engine;
  const EmulatedNetwork network;
  const int size;
  std::mutex lock;
  std::condition_variable ended;
  Status why;
};

} // namespace

std::unique_ptr<HostEngine> emulate(std::unique_ptr<HostEngine> engine, const EmulatedNetwork &network, int size) {
  return std::make_unique<EmulatedEngine>(std::move(engine), network, size);
}

StatusOr<EmulatedNetwork> parseEmulatedNetwork(std::string_view text) {
  EmulatedNetwork network;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    size_t equals = std::min(item.find('='), item.size());
    std::string_view key = item.substr(0, equals), number = item.substr(std::min(equals + 1, item.size()));
    double value = 0;
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    bool fits = error == std::errc() && end == number.data() + number.size() && value >= 0 && value <= 1e9;
    if (fits && key == "latency_us")
      network.latencySeconds = value * 1e-6;
    else if (fits && value > 0 && key == "gbps")
      network.bytesPerSecond = value * 1e9 / 8;
    else
      return Status(StatusCode::InvalidInput,
                    "expects latency_us=<microseconds>,gbps=<10^9 bits a second>, got '" + std::string(item) + "'");
  }
  return network;
}

} // namespace dlc::runtime
