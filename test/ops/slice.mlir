// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @slice
// CHECK: dl.slice %{{.*}} starts [1, 0] limits [4, 6] strides [1, 2] : (tensor<5x6xf32>) -> tensor<3x3xf32>
func.func @slice(%x: tensor<5x6xf32>) -> tensor<3x3xf32> {
  %y = dl.slice %x starts [1, 0] limits [4, 6] strides [1, 2] : (tensor<5x6xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}
