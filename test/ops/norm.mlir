// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @norm
// CHECK: dl.norm %{{.*}} over [0, 1] : (tensor<3x4xf32>) -> tensor<f32>
func.func @norm(%x: tensor<3x4xf32>) -> tensor<f32> {
  %y = dl.norm %x over [0, 1] : (tensor<3x4xf32>) -> tensor<f32>
  return %y : tensor<f32>
}
