#pragma once

#include "dlc/runtime/Executable.h"

#include <string_view>

namespace dlc::runtime {

/// What a library that stands in for the driver gets as a module: a program's kernels for sim, which run on the host.
/// The vendor's driver never sees one.
struct HostImage {
  static constexpr std::string_view kMagic = "dlc kernels for the host";

  char magic[32] = {};
  std::shared_ptr<const Executable> executable;
};

} // namespace dlc::runtime
