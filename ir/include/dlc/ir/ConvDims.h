#pragma once

#include <cstdint>

namespace dlc::dl {

/// Extents of a 2-D convolution of NCHW by OIHW, in elements; [0] is along height, [1] along width.
struct ConvDims {
  int64_t batch;
  int64_t inChannels;
  int64_t outChannels;
  int64_t in[2];
  int64_t out[2];
  int64_t kernel[2];
  int64_t stride[2];
  int64_t paddingLo[2];
  int64_t paddingHi[2];
  int64_t leaves = 1; ///< of the weight's gradient: parts of the batch whose sums are added as a balanced binary tree

  /// Images of a leaf.
  int64_t leafImages() const { return (batch + leaves - 1) / leaves; }

  /// Multiply-adds of the forward convolution, and of either gradient.
  int64_t multiplyAdds() const { return batch * outChannels * out[0] * out[1] * inChannels * kernel[0] * kernel[1]; }
};

} // namespace dlc::dl
