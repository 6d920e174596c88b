#include "Commands.h"

#include "dlc/runtime/DeviceUse.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <sys/ioctl.h>
#include <unistd.h>

namespace dlc::tool {

namespace {

using runtime::DeviceUse;
using runtime::UseSource;

constexpr double kGiB = double(int64_t(1) << 30), kMiB = double(int64_t(1) << 20);

/// "-" for what cannot be told.
std::string shown(const char *format, std::optional<double> value) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

/// "1.0 / 80.0 GiB"; nothing where neither is known.
std::string ofTotal(std::optional<double> part, std::optional<double> total, const char *number, const char *unit) {
  if (!part && !total)
    return "-";
  return shown(number, part) + (total ? " / " + fmt::format(fmt::runtime(number), *total) : "") + unit;
}

std::optional<double> inGiB(std::optional<int64_t> bytes) {
  return bytes ? std::optional(double(*bytes) / kGiB) : std::nullopt;
}

std::string row(const std::string &device, const std::string &use, const std::string &memory, const std::string &power,
                const std::string &temperature, const std::string &name) {
  return fmt::format("{:<13} {:>5}  {:>18}  {:>13}  {:>6}  {}", device, use, memory, power, temperature, name);
}

std::string rowOf(const std::string &device, const DeviceUse &use) {
  return row(device, shown("{:.0f} %", use.busy),
             ofTotal(inGiB(use.memoryUsed), inGiB(use.memoryTotal), "{:.1f}", " GiB"),
             ofTotal(use.watts, use.wattsLimit, "{:.0f}", " W"), shown("{:.0f} °C", use.celsius),
             fmt::format("{}{}{}", use.name, use.name.empty() || use.failure.empty() ? "" : "; ", use.failure));
}

std::string processRow(const DeviceUse::Process &process) {
  std::optional<double> size = process.bytes ? std::optional(double(*process.bytes) / kMiB) : std::nullopt;
  return fmt::format("  pid {:<10} {:>14}  {}", process.pid, shown("{:.0f} MiB", size),
                     process.name.empty() ? "-" : process.name);
}

/// A line for each device, where those that look alike share one, then one for each process.
std::vector<std::string> rowsOf(const std::vector<DeviceUse> &uses) {
  std::vector<std::string> rows;
  for (size_t first = 0; first < uses.size();) {
    size_t next = first + 1;
    while (next < uses.size() && rowOf("", uses[next]) == rowOf("", uses[first]) && uses[first].processes.empty() &&
           uses[next].processes.empty())
      ++next;
    const std::string &from = uses[first].device, &to = uses[next - 1].device;
    rows.push_back(rowOf(next == first + 1 ? from : fmt::format("{} - {}", from, to), uses[first]));
    first = next;
  }
  for (const DeviceUse &use : uses)
    for (const DeviceUse::Process &process : use.processes)
      rows.push_back(processRow(process) + ", on " + use.device);
  return rows;
}

/// At most `width` characters of UTF-8.
std::string cut(const std::string &line, size_t width) {
  size_t characters = 0;
  for (size_t at = 0; at < line.size(); ++at)
    if ((static_cast<unsigned char>(line[at]) & 0xC0U) != 0x80U && characters++ == width)
      return line.substr(0, at);
  return line;
}

/// Where the table goes: renewed in place on a terminal, else line after line with the time of day.
class Screen {
public:
  void show(std::vector<std::string> rows) {
    std::string text;
    if (terminal) {
      // What does not fit would scroll the rest away.
      winsize size = extent();
      if (size_t height = size.ws_row - 1U; rows.size() > height) {
        size_t left = rows.size() - height + 1;
        rows.resize(height - 1);
        rows.push_back(fmt::format("and {} lines more", left));
      }
      for (std::string &each : rows)
        each = cut(each, size.ws_col) + "\033[K";
      text = std::exchange(begun, true) ? "\033[H" : "\033[2J\033[H";
    }
    text += fmt::format("{}\n", fmt::join(rows, "\n"));
    if (terminal)
      text += "\033[J";
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;

private:
  static winsize extent() {
    winsize size{};
    bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    if (!known || size.ws_col == 0)
      size.ws_col = 80;
    size.ws_row = known && size.ws_row > 0 ? std::max<unsigned short>(size.ws_row, 4) : 24;
    return size;
  }
  bool begun = false;
};

class Watch {
public:
  /// The rows of one look, and what is the same in all of them.
  StatusOr<std::vector<std::string>> look() {
    std::vector<std::string> rows;
    for (const UseSource &source : sources) {
      if (!source.probe)
        continue;
      StatusOr<std::vector<DeviceUse>> uses = source.probe->sample();
      if (!uses.ok())
        return uses.status();
      std::vector<std::string> more = rowsOf(*uses);
      rows.insert(rows.end(), more.begin(), more.end());
    }
    return rows;
  }
  std::vector<std::string> missing() const {
    std::vector<std::string> rows;
    for (const UseSource &source : sources)
      if (!source.probe)
        rows.push_back(fmt::format("{:<13} none: {}", source.kind, source.why));
    return rows;
  }

private:
  std::vector<UseSource> sources = runtime::useSources();
};

std::string timeOfDay() {
  std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return fmt::format("{:%H:%M:%S}", local);
}

/// Whether Ctrl-C came within the time. It is blocked, so that it ends no line in the middle.
bool interruptedWithin(const sigset_t &signals, double seconds) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  double until = double(now.tv_sec) + 1e-9 * double(now.tv_nsec) + seconds;
  while (true) {
    timespec left{std::time_t(seconds), long((seconds - double(std::time_t(seconds))) * 1e9)};
    if (::sigtimedwait(&signals, nullptr, &left) >= 0)
      return true;
    if (errno == EAGAIN)
      return false;
    ::clock_gettime(CLOCK_MONOTONIC, &now); // stopped and continued
    seconds = std::max(0.0, until - double(now.tv_sec) - 1e-9 * double(now.tv_nsec));
  }
}

} // namespace

Status watchDevices(const DevicesArguments &arguments) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Watch watch;
  Screen screen;
  const std::string header = row("device", "use", "memory", "power", "temp", "name");
  const std::vector<std::string> missing = watch.missing();
  if (!screen.terminal) {
    if (!missing.empty())
      screen.show(missing);
    screen.show({"time      " + header});
  }
  // The cpu's use is of the time between two looks: this is the first one's.
  if (interruptedWithin(signals, std::min(arguments.interval, 0.1)))
    return {};
  for (int64_t look = 1;; ++look) {
    StatusOr<std::vector<std::string>> rows = watch.look();
    if (!rows.ok())
      return rows.status();
    std::string time = timeOfDay();
    if (screen.terminal) {
      rows->insert(rows->begin(),
                   {time + ", every " + fmt::format("{:g}", arguments.interval) + " s; Ctrl-C ends", header});
      rows->insert(rows->end(), missing.begin(), missing.end());
    } else {
      const std::string prefix = time + "  ";
      for (std::string &each : *rows)
        each.insert(0, prefix);
    }
    screen.show(*rows);
    if (look == arguments.count || interruptedWithin(signals, arguments.interval))
      return {};
  }
}

} // namespace dlc::tool
