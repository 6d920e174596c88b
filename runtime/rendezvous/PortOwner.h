#pragma once

#include <string>

namespace dlc::runtime {

/// "pid 4711 (python3)": the process that listens on a TCP port of this host; empty if the system does not tell.
std::string portOwner(int port);

} // namespace dlc::runtime
