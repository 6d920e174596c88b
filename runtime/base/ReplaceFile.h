#pragma once

#include "dlc/runtime/Status.h"

#include <cstddef>
#include <span>
#include <string>

namespace dlc {

/// Makes `chunks`, one after the other, the content of `path` in one step and durably: temporary file beside it, fsync,
/// rename, fsync of the directory. A failure leaves the previous file and no temporary. A path that is neither file nor
/// directory (/dev/null) is written into.
Status replaceFile(const std::string &path, std::span<const std::span<const std::byte>> chunks);

/// Makes what was created, renamed or removed in the directory durable.
Status syncDirectory(const std::string &directory);

} // namespace dlc
