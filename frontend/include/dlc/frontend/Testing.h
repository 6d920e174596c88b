#pragma once

#include <cstdint>

namespace dlc::testing {

/// Programs compiled so far in this process.
int64_t compile_count();
/// Recorded nodes alive in this process.
int64_t live_nodes();

} // namespace dlc::testing
