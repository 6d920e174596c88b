#pragma once

#include <cstdint>

namespace dlc::dl {

/// Extents of an attention: q [batch, queries, depth], k [batch, keys, depth], v [batch, keys, width].
struct AttentionDims {
  int64_t batch; ///< product of the batch dimensions
  int64_t queries;
  int64_t keys;
  int64_t depth;
  int64_t width;
};

} // namespace dlc::dl
