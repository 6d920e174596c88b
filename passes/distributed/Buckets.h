#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <vector>

namespace dlc::passes {

/// On an all_reduce of gradients: its number, an i64.
constexpr llvm::StringLiteral bucketAttribute = "dl.bucket";

/// What moves gradients, the same on all members.
struct Link {
  double startSeconds; ///< of each collective, besides its bytes
  double bytesPerSecond;
};

/// A gradient in the order in which they are to be reduced.
struct BucketItem {
  int64_t bytes;
  double ready; ///< seconds from the start of the program
};

/// Where buckets end, ascending; the last end is the number of items. A bucket is full when it has `bytes` or more, the
/// first one, for which all others wait, from 1 MiB on.
std::vector<size_t> cutBySize(const std::vector<BucketItem> &items, int64_t bytes);

/// Buckets such that the last one is reduced earliest; none but the last is smaller than what the link carries while
/// one starts.
std::vector<size_t> cutByModel(const std::vector<BucketItem> &items, const Link &link);

/// What an op takes on one core, roughly: the same on all members.
double modelledSeconds(mlir::Operation *op);

} // namespace dlc::passes
