#pragma once

#include "dlc/runtime/Checkpoint.h"

#include <source_location>

namespace dlc::record {

/// Who saves and loads with this process: the ranks of its job, or it alone.
runtime::CheckpointGroup checkpointGroup();

/// Waits for the checkpoint that is being written, if there is one; an Error if it failed.
void finishCheckpoints(const std::source_location &where);

} // namespace dlc::record
