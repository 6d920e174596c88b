#pragma once

#include "Rows.h"

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace dlc::gpucheck {

/// How one process of a part ended.
struct PartEnd {
  enum class How { Done, Failed, DeviceFailed, Crashed, Silent, TimeOver } how = How::Done;
  std::string message; ///< of all but Done: a sentence, with what the process wrote last on standard error
  std::string none;    ///< why there is no device
  long item = -1;      ///< which one was begun last
  std::string itemName;
};

/// What a process may take, in seconds.
struct PartLimits {
  double total = 60;   ///< until its end
  double silence = 30; ///< between two lines
};

/// Runs this program again with the arguments, in a process group that ends with it, and hands on its rows.
PartEnd runPart(const std::vector<std::string> &arguments, const PartLimits &limits,
                const std::function<void(const Json &row)> &onRow,
                const std::function<void(const std::string &)> &onItem);

} // namespace dlc::gpucheck
