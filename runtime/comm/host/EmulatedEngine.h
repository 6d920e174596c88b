#pragma once

#include "comm/host/HostEngine.h"

namespace dlc::runtime {

/// An engine whose operations are done no earlier than over a network of `size` members.
std::unique_ptr<HostEngine> emulate(std::unique_ptr<HostEngine> engine, const EmulatedNetwork &network, int size);

} // namespace dlc::runtime
