#pragma once

#include "dlc/frontend/Tensor.h"
#include "record/Job.h"

namespace dlc::distributed {

/// Rows of each member, as what they hold lies in the buffers of `blocks`: this process's members' blocks of
/// `layout->block` rows, on any device. No copy.
Tensor joinBlocks(const Tensor &blocks, record::LayoutRef layout);

} // namespace dlc::distributed
