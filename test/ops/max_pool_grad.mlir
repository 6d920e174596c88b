// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @max_pool_grad
// CHECK: dl.max_pool_grad %{{.*}}, %{{.*}} kernel [3, 2] strides [2, 1] padding_lo [1, 0] padding_hi [1, 0] ceil_mode : (tensor<2x3x6x5xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x6x5xf32>
func.func @max_pool_grad(%x: tensor<2x3x6x5xf32>, %dy: tensor<2x3x4x4xf32>) -> tensor<2x3x6x5xf32> {
  %y = dl.max_pool_grad %x, %dy kernel [3, 2] strides [2, 1] padding_lo [1, 0] padding_hi [1, 0] ceil_mode : (tensor<2x3x6x5xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x6x5xf32>
  return %y : tensor<2x3x6x5xf32>
}
