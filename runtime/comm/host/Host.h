#pragma once

#include <string>

namespace dlc::runtime {

/// This host as far as processes can share memory and see each other's ids: its name, this start of it, and the
/// namespace of processes. Equal texts: the same host.
std::string hostIdentity();

} // namespace dlc::runtime
