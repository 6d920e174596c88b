// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check %s

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
