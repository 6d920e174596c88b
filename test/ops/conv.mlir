// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @conv
// CHECK: dl.conv %{{.*}}, %{{.*}} strides [2, 1] padding_lo [1, 0] padding_hi [0, 1] : (tensor<2x3x5x6xf32>, tensor<4x3x2x3xf32>) -> tensor<2x4x3x5xf32>
func.func @conv(%x: tensor<2x3x5x6xf32>, %w: tensor<4x3x2x3xf32>) -> tensor<2x4x3x5xf32> {
  %y = dl.conv %x, %w strides [2, 1] padding_lo [1, 0] padding_hi [0, 1] : (tensor<2x3x5x6xf32>, tensor<4x3x2x3xf32>) -> tensor<2x4x3x5xf32>
  return %y : tensor<2x4x3x5xf32>
}
