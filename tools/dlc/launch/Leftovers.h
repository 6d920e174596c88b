#pragma once

#include <sys/types.h>
#include <vector>

namespace dlc::launch {

/// Makes this process the parent of all processes below it whose own parent ends.
void adoptOrphans();

/// Children of this process, adopted ones included, that have not ended.
std::vector<pid_t> livingChildren();

} // namespace dlc::launch
