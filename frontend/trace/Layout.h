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
/// Blocks of ceil(rows / members) rows, the last ones shorter or empty. Null for one member.
LayoutRef blocksOf(int64_t dim, int64_t rows, int64_t members);
/// Bytes that one member has of a tensor of the type.
int64_t memberBytes(TypeRef type, LayoutRef layout);

} // namespace dlc::trace
