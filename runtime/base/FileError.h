#pragma once

#include "dlc/runtime/Status.h"

#include <string>
#include <string_view>

namespace dlc {

/// InvalidInput: a file's content is not what it must be.
Status invalidFile(std::string message);

/// `what` and the system's reason from errno: "cannot open: No such file or directory".
Status systemError(const std::string &what);

/// Text from a file as a message shows it: in quotes, control characters as '?', at most 64 bytes and then "…".
std::string quote(std::string_view text);

} // namespace dlc
