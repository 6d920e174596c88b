// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @pad
// CHECK: dl.pad %{{.*}}, %{{.*}} lo [1, 0] hi [0, 2] interior [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x7xf32>
func.func @pad(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<3x7xf32> {
  %y = dl.pad %x, %v lo [1, 0] hi [0, 2] interior [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}
