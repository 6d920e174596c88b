#pragma once

#include "dlc/runtime/Status.h"
#include "dlc/runtime/TensorView.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc {

/// The order of an epoch: Fisher and Yates' shuffle of 0 … size-1 whose i-th exchange draws from Philox with key `seed`
/// and counter (i, 2^63 + epoch); offsets below 2^63 belong to a program's own random operations.
std::vector<int64_t> shuffledOrder(int64_t size, uint64_t seed, uint64_t epoch);

struct BatchOptions {
  int64_t batchSize = 1; ///< of the whole job
  bool shuffle = false;
  bool dropLast = false; ///< leave out an epoch's last batch where it is short
  uint64_t seed = 0;
  uint64_t fingerprint = 0; ///< of the data set; 0: not known
};

/// Where a pass over a data set stands; all that resuming needs.
struct BatchState {
  uint64_t seed = 0, epoch = 0;
  int64_t consumed = 0;     ///< samples of this epoch already given out
  int64_t size = 0;         ///< samples of the data set
  uint64_t fingerprint = 0; ///< of its content; 0: not known

  /// For checkpoints.
  std::string toJson() const;
  static StatusOr<BatchState> parse(std::string_view json);
  friend bool operator==(const BatchState &, const BatchState &) = default;
};

/// A number that says whether a data set is the same: of types, shapes and all elements of its arrays. Never 0.
uint64_t fingerprintOf(std::span<const TensorView> arrays);

/// Rows of a batch, [begin, end).
struct RowRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// The rows that a member has of `rows`: blocks of ceil(rows / members), with leaves, which the members divide, of
/// whole leaves of ceil(rows / leaves). The last ones are short or empty.
RowRange memberRows(int64_t rows, int64_t member, int64_t members, int64_t leaves = 0);

/// Cuts each epoch's order into batches; the last one is short unless dropped.
class Batches {
public:
  static StatusOr<Batches> create(int64_t size, const BatchOptions &options);

  /// The next batch's sample indices, valid until the next call that is not const. Empty once at an epoch's end, and
  /// then the next epoch begins.
  std::span<const int64_t> next();

  /// Goes to the start of `epoch`.
  void startEpoch(uint64_t epoch);

  int64_t batchesPerEpoch() const;
  BatchState state() const {
    return {options_.seed, epoch_, consumed_, static_cast<int64_t>(order_.size()), options_.fingerprint};
  }

  /// Continues where `state` was taken, also with another batch size or number of members, which all see the same
  /// batches. Refuses the state of another data set: of another size, or another fingerprint where both have one.
  Status restore(const BatchState &state);

private:
  Batches(int64_t size, const BatchOptions &options);

  BatchOptions options_;
  uint64_t epoch_ = 0;
  int64_t consumed_ = 0;
  std::vector<int64_t> order_;
};

/// Copies row rows[i] of `source` (its slices along dimension 0) to row i of `target`, which has room for rows.size().
Status gatherRows(const TensorView &source, std::span<const int64_t> rows, void *target);

/// Memory for one array of a batch, aligned to 64 bytes and reused from batch to batch.
class BatchBuffer {
public:
  /// gatherRows into this buffer; the view is valid until the next call.
  StatusOr<TensorView> gather(const TensorView &source, std::span<const int64_t> rows);

private:
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  size_t capacity_ = 0;
};

} // namespace dlc
