// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce_max
// CHECK: dl.reduce_max %{{.*}} over [0, 2] : (tensor<3x4x5xf32>) -> tensor<4xf32>
func.func @reduce_max(%x: tensor<3x4x5xf32>) -> tensor<4xf32> {
  %y = dl.reduce_max %x over [0, 2] : (tensor<3x4x5xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
