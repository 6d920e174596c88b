#pragma once

#include "trace/Types.h"

namespace dlc::trace {

/// How a tensor lies on the members of a job: member m has rows [borders[m], borders[m + 1]) of one dimension, in
/// memory for `block` rows; what is behind its own rows is undefined. Interned, so equal layouts are one pointer.
struct Layout {
  int64_t dim;
  std::vector<int64_t> borders;
  /// Rows of the largest part.
  int64_t block;

  int64_t rows(size_t member) const { return borders[member + 1] - borders[member]; }
};
/// Null: every member has all of it.
using LayoutRef = const Layout *;

/// The mesh axis along which members differ.
inline constexpr const char *kDataAxis = "data";

LayoutRef internLayout(int64_t dim, std::span<const int64_t> borders);
/// The members of a job. With leaves, a power of two that their number divides, sums over rows are taken in that many
/// parts and added as a binary tree: they have the same bits for every such number.
struct Members {
  int64_t count = 1, leaves = 0;

  /// Whether rows are dealt out at all.
  bool split() const { return count > 1 || leaves > 0; }
};

/// Blocks of ceil(rows / members) rows, with leaves of whole leaves of ceil(rows / leaves); the last ones shorter or
/// empty. Null where rows are not dealt out.
LayoutRef blocksOf(int64_t dim, int64_t rows, Members members);
/// Bytes that one member has of a tensor of the type.
int64_t memberBytes(TypeRef type, LayoutRef layout);

} // namespace dlc::trace
