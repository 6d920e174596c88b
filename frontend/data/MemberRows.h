#pragma once

#include "dlc/frontend/Data.h"

namespace dlc::detail {

/// The rows as a batch. Under DataParallel, unless `split` says no, members gather their own rows only, and the batch
/// is the whole job's.
std::pair<Tensor, Tensor> gatherBatch(const DataSource &source, std::span<const int64_t> rows, bool split);

} // namespace dlc::detail
