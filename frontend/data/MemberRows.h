#pragma once

#include "dlc/frontend/Data.h"
#include "record/Job.h"

namespace dlc::detail {

/// Which of a batch's rows this process gathers.
struct RowsHere {
  std::vector<int64_t> rows;
  record::LayoutRef layout = nullptr; ///< how the members hold the batch; null: each has all of it

  /// Under DataParallel, unless `split` says no, members have their own rows only.
  static RowsHere of(std::span<const int64_t> rows, bool split);
  /// The batch, from those rows.
  std::pair<Tensor, Tensor> batch(std::pair<Tensor, Tensor> gathered) const;
};

} // namespace dlc::detail
