#pragma once

#include "dlc/runtime/Status.h"

#include <cstddef>
#include <string>

namespace dlc {

/// The content of a gzip-compressed file, its checksum verified; refuses content longer than `limit` bytes.
StatusOr<std::string> readGzip(const std::string &path, size_t limit);

} // namespace dlc
