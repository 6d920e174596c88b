#pragma once

namespace dlc::runtime::profile {

/// Samples how busy GPUs are, ten times a second and at once, by a thread of its own; nothing where there are none.
void startCounters();

/// Samples once more and ends that; nothing when it does not run. In a fork of the process that started it, where the
/// thread is not, it is only forgotten.
void stopCounters();

} // namespace dlc::runtime::profile
