// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce_prod
// CHECK: dl.reduce_prod %{{.*}} over [0, 2] : (tensor<3x4x5xf32>) -> tensor<4xf32>
func.func @reduce_prod(%x: tensor<3x4x5xf32>) -> tensor<4xf32> {
  %y = dl.reduce_prod %x over [0, 2] : (tensor<3x4x5xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
