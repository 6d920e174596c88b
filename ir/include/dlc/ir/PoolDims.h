#pragma once

#include <algorithm>
#include <cstdint>

namespace dlc::dl {

/// Extents of 2-D pooling over NCHW, in elements; [0] is along height, [1] along width.
struct PoolDims {
  /// Batch times channels: pooling treats each plane alone.
  int64_t planes;
  int64_t in[2];
  int64_t out[2];
  int64_t kernel[2];
  int64_t stride[2];
  int64_t paddingLo[2];
  int64_t paddingHi[2];
  /// Averages divide by the elements inside the padded input instead of those inside the input.
  bool countIncludePad;

  /// First position of window `i` inside the input along `axis`, 0 <= begin < in.
  int64_t begin(int axis, int64_t i) const { return std::max<int64_t>(start(axis, i), 0); }
  /// One past the last position of window `i` inside the input.
  int64_t end(int axis, int64_t i) const { return std::min(start(axis, i) + kernel[axis], in[axis]); }
  /// Factor of an average's divisor along `axis`; the divisor is the product of both.
  int64_t divisor(int axis, int64_t i) const {
    if (!countIncludePad)
      return end(axis, i) - begin(axis, i);
    return std::min(start(axis, i) + kernel[axis], in[axis] + paddingHi[axis]) - start(axis, i);
  }

private:
  int64_t start(int axis, int64_t i) const { return i * stride[axis] - paddingLo[axis]; }
};

} // namespace dlc::dl
