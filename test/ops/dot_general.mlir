// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @dot_general
// CHECK: dl.dot_general %{{.*}}, %{{.*}} batch [0] x [1] contract [2] x [0] : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x5xf32>
func.func @dot_general(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf32>) -> tensor<2x3x5xf32> {
  %y = dl.dot_general %a, %b batch [0] x [1] contract [2] x [0] : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}
