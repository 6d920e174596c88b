#pragma once

#include "contraction/MatrixProduct.h"
#include "dlc/ir/ConvDims.h"

namespace dlc::codegen {

/// Direct convolutions of NCHW by OIHW as register tiles, without im2col. In each, vectors run along contiguous memory
/// of the result; borders and strides are dealt with by copying the input once into workspace.
///
/// Forward: rows are output channels (weights are read in place), columns are pixels of one or several image rows; a
/// sum is one fma chain over (input channel, kernel row, kernel column).
struct ForwardPlan {
  dl::ConvDims dims;
  int64_t lanes = 0;
  int64_t vectorsPerRow = 0; ///< of an image row
  int64_t imageRows = 0;     ///< of a tile
  TileSplit channels{};
  TileSplit rowGroups{};
  int64_t padded[2] = {0, 0}; ///< extents of the copied input
  bool copyInput = false;

  static ForwardPlan of(const dl::ConvDims &dims, int64_t elementBytes, const CpuTraits &traits);
  int64_t inputBytes(int64_t elementBytes) const;
};

int64_t forwardWorkspaceBytes(const dl::ConvDims &dims, int64_t elementBytes, const CpuTraits &traits);
/// The epilogue gets {image, output channel, output row, output column}.
void emitConvForward(KernelBuilder &kernel, const dl::ConvDims &dims, const CpuTraits &traits, mlir::Type element,
                     unsigned input, unsigned weight, EpilogueFn epilogue);

/// Input gradient: the forward convolution of the output's gradient, spread by the strides and padded, with the
/// weights flipped and their channels exchanged; a sum runs over (output channel, flipped kernel row, column).
int64_t inputGradWorkspaceBytes(const dl::ConvDims &dims, int64_t elementBytes, const CpuTraits &traits);
void emitConvInputGrad(KernelBuilder &kernel, const dl::ConvDims &dims, const CpuTraits &traits, mlir::Type element,
                       unsigned outputGrad, unsigned weight, EpilogueFn epilogue);

/// Weight gradient: rows are input channels (or channels and kernel columns), columns output channels; for each image
/// one fma chain over its pixels, images added in order, leaves of them as a tree.
int64_t weightGradWorkspaceBytes(const dl::ConvDims &dims, int64_t elementBytes, const CpuTraits &traits);
/// The epilogue gets {output channel, position in (input channel, kernel row, kernel column)}.
void emitConvWeightGrad(KernelBuilder &kernel, const dl::ConvDims &dims, const CpuTraits &traits, mlir::Type element,
                        unsigned input, unsigned outputGrad, EpilogueFn epilogue);

} // namespace dlc::codegen
