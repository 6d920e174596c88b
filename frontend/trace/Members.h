#pragma once

#include "dlc/runtime/Executable.h"
#include "trace/Run.h"

#include <memory>

namespace dlc::trace {

/// The program bound to every member of this process and run by all of them at once: of a split value each takes its
/// block, of any other they share the argument, and the first one's result counts.
StatusOr<std::shared_ptr<Runnable>> attachMembers(runtime::Job &job,
                                                  const std::shared_ptr<const Executable> &executable,
                                                  std::vector<LayoutRef> arguments, std::vector<LayoutRef> results);

} // namespace dlc::trace
