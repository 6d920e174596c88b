#include "data/MemberRows.h"

#include "distributed/SplitTensors.h"

namespace dlc::detail {

RowsHere RowsHere::of(std::span<const int64_t> rows, bool split) {
  const record::Job *job = record::job();
  if (!split || !job || !job->splitsBatches || !job->dealt().split() || rows.empty())
    return {{rows.begin(), rows.end()}};
  trace::LayoutRef layout = trace::blocksOf(0, static_cast<int64_t>(rows.size()), job->dealt());
  std::vector<int64_t> own; // a block a member; behind its own rows the last of them, which nobody reads
  for (int local = 0; local < job->localMembers; ++local) {
    size_t member = job->member(local);
    for (int64_t i = 0; i < layout->block; ++i) {
      int64_t row = std::min(layout->borders[member] + i, std::max(layout->borders[member + 1] - 1, int64_t(0)));
      own.push_back(rows[static_cast<size_t>(row)]);
    }
  }
  return {std::move(own), layout};
}

std::pair<Tensor, Tensor> RowsHere::batch(std::pair<Tensor, Tensor> gathered) const {
  if (!layout)
    return gathered;
  return {distributed::joinBlocks(gathered.first, layout), distributed::joinBlocks(gathered.second, layout)};
}

} // namespace dlc::detail
