// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @avg_pool_grad(
// CHECK: dl.avg_pool_grad %{{.*}} count_include_pad kernel [3, 2] strides [2, 1] padding_lo [1, 0] padding_hi [1, 0] ceil_mode : (tensor<2x3x4x4xf32>) -> tensor<2x3x6x5xf32>
func.func @avg_pool_grad(%dy: tensor<2x3x4x4xf32>) -> tensor<2x3x6x5xf32> attributes {dl.check_gradient} {
  %y = dl.avg_pool_grad %dy count_include_pad kernel [3, 2] strides [2, 1] padding_lo [1, 0] padding_hi [1, 0] ceil_mode : (tensor<2x3x4x4xf32>) -> tensor<2x3x6x5xf32>
  return %y : tensor<2x3x6x5xf32>
}

func.func @without_padding(%dy: tensor<2x3x4x4xf32>) -> tensor<2x3x6x5xf32> attributes {dl.check_gradient} {
  %y = dl.avg_pool_grad %dy kernel [3, 2] strides [2, 1] padding_lo [1, 0] padding_hi [1, 0] ceil_mode : (tensor<2x3x4x4xf32>) -> tensor<2x3x6x5xf32>
  return %y : tensor<2x3x6x5xf32>
}

func.func @size_digits(%dy: tensor<3x16x4x4xf32>) -> tensor<3x16x8x8xf32> {
  %y = dl.avg_pool_grad %dy kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<3x16x4x4xf32>) -> tensor<3x16x8x8xf32>
  return %y : tensor<3x16x8x8xf32>
}

func.func @size_overlapping(%dy: tensor<1x5x9x10xf32>) -> tensor<1x5x17x19xf32> {
  %y = dl.avg_pool_grad %dy kernel [3, 3] strides [2, 2] padding_lo [1, 1] padding_hi [1, 1] : (tensor<1x5x9x10xf32>) -> tensor<1x5x17x19xf32>
  return %y : tensor<1x5x17x19xf32>
}

// Windows and elements of them that are too many to write out.
func.func @size_many_windows(%dy: tensor<2x3x13x10xf32>) -> tensor<2x3x13x11xf32> {
  %y = dl.avg_pool_grad %dy kernel [5, 4] strides [1, 1] padding_lo [2, 1] padding_hi [2, 1] : (tensor<2x3x13x10xf32>) -> tensor<2x3x13x11xf32>
  return %y : tensor<2x3x13x11xf32>
}
