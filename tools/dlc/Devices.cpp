#include "Commands.h"

#include "dlc/runtime/Device.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlc::tool {

namespace {

void printLine(const std::string &kind, const std::string &text) { fmt::print("{:<14} {}\n", kind, text); }

/// Devices that are described alike share a line.
Status printKind(const runtime::Device::Kind &kind) {
  std::string first, last, shown;
  auto flush = [&] {
    if (!shown.empty())
      printLine(first == last ? first : first + " - " + last, shown);
  };
  for (int index = 0; index < kind.count; ++index) {
    StatusOr<runtime::Device *> device = runtime::Device::open({kind.name, index});
    if (!device.ok())
      return device.status();
    std::string text = fmt::format("{:.1f} GiB, {}", double((*device)->memoryBytes()) / double(int64_t(1) << 30),
                                   (*device)->description());
    if (text != shown) {
      flush();
      first = (*device)->id().str();
      shown = text;
    }
    last = (*device)->id().str();
  }
  flush();
  return {};
}

} // namespace

Status devices() {
  for (const runtime::Device::Kind &kind : runtime::Device::kinds()) {
    if (kind.count == 0)
      printLine(kind.name, "none: " + kind.why);
    else if (Status status = printKind(kind); !status.ok())
      return status;
  }
  return {};
}

} // namespace dlc::tool
