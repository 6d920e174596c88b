#include "dlc/runtime/Data.h"
#include "dlc/runtime/Philox.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace dlc {

std::vector<int64_t> shuffledOrder(int64_t size, uint64_t seed, uint64_t epoch) {
  constexpr uint64_t dataOffsets = uint64_t{1} << 63U;
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t i = order.size(); i-- > 1;) {
    PhiloxWords words = philox(seed, dataOffsets + epoch, i);
    uint64_t draw = static_cast<uint64_t>(words[0]) << 32U | words[1];
    // The upper half of draw * (i + 1) is uniform on 0 … i up to (i + 1) / 2^64.
    auto other = static_cast<size_t>(static_cast<unsigned __int128>(draw) * (i + 1) >> 64U);
    std::swap(order[i], order[other]);
  }
  return order;
}

RowRange memberRows(int64_t rows, int64_t member, int64_t members, int64_t leaves) {
  leaves = std::max(leaves, members); // without an order of sums a member is one leaf
  int64_t block = leaves / members * (rows / leaves + (rows % leaves != 0 ? 1 : 0));
  int64_t begin = std::min(rows, member * block);
  return {begin, begin + std::min(block, rows - begin)};
}

Batches::Batches(int64_t size, const BatchOptions &options) : options_(options), order_(static_cast<size_t>(size)) {
  startEpoch(0);
}

StatusOr<Batches> Batches::create(int64_t size, const BatchOptions &options) {
  if (size < 0)
    return Status(StatusCode::InvalidInput, "expected a data set size >= 0, found " + std::to_string(size));
  if (options.batchSize <= 0)
    return Status(StatusCode::InvalidInput, "expected a batch size > 0, found " + std::to_string(options.batchSize));
  return Batches(size, options);
}

void Batches::startEpoch(uint64_t epoch) {
  epoch_ = epoch;
  consumed_ = 0;
  if (options_.shuffle)
    order_ = shuffledOrder(static_cast<int64_t>(order_.size()), options_.seed, epoch);
  else
    std::iota(order_.begin(), order_.end(), int64_t{0});
}

std::span<const int64_t> Batches::next() {
  int64_t left = static_cast<int64_t>(order_.size()) - consumed_;
  if (left == 0 || (options_.dropLast && left < options_.batchSize)) {
    startEpoch(epoch_ + 1);
    return {};
  }
  int64_t count = std::min(left, options_.batchSize);
  std::span<const int64_t> batch(order_.data() + consumed_, static_cast<size_t>(count));
  consumed_ += count;
  return batch;
}

int64_t Batches::batchesPerEpoch() const {
  auto size = static_cast<int64_t>(order_.size());
  return size / options_.batchSize + (size % options_.batchSize != 0 && !options_.dropLast ? 1 : 0);
}

Status Batches::restore(const BatchState &state) {
  auto size = static_cast<int64_t>(order_.size());
  if (state.size != size)
    return {StatusCode::InvalidInput, "expected the loader state of a data set of " + std::to_string(size) +
                                          " samples, found one of " + std::to_string(state.size)};
  if (state.fingerprint != 0 && options_.fingerprint != 0 && state.fingerprint != options_.fingerprint)
    return {StatusCode::InvalidInput, "expected the loader state of this data set, found one of another with as many "
                                      "samples (their content differs)"};
  if (state.consumed < 0 || state.consumed > size)
    return {StatusCode::InvalidInput,
            "expected 0 to " + std::to_string(size) + " samples consumed, found " + std::to_string(state.consumed)};
  options_.seed = state.seed;
  startEpoch(state.epoch);
  consumed_ = state.consumed;
  return {};
}

} // namespace dlc
