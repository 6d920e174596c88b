// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @mean
// CHECK: dl.mean %{{.*}} over [1] : (tensor<3x4xf32>) -> tensor<3xf32>
func.func @mean(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %y = dl.mean %x over [1] : (tensor<3x4xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
