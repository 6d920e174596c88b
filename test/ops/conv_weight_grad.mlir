// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @conv_weight_grad
// CHECK: dl.conv_weight_grad %{{.*}}, %{{.*}} strides [2, 1] padding_lo [1, 0] padding_hi [0, 1] : (tensor<2x3x5x6xf32>, tensor<2x4x3x5xf32>) -> tensor<4x3x2x3xf32>
func.func @conv_weight_grad(%x: tensor<2x3x5x6xf32>, %dy: tensor<2x4x3x5xf32>) -> tensor<4x3x2x3xf32> {
  %y = dl.conv_weight_grad %x, %dy strides [2, 1] padding_lo [1, 0] padding_hi [0, 1] : (tensor<2x3x5x6xf32>, tensor<2x4x3x5xf32>) -> tensor<4x3x2x3xf32>
  return %y : tensor<4x3x2x3xf32>
}
