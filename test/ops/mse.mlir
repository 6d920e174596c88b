// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @mse
// CHECK: dl.mse %{{.*}}, %{{.*}} {reduction = #dl.loss_reduction<sum>} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<f32>
func.func @mse(%x: tensor<3x4xf32>, %t: tensor<3x4xf32>) -> tensor<f32> {
  %y = dl.mse %x, %t {reduction = #dl.loss_reduction<sum>} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<f32>
  return %y : tensor<f32>
}
