// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK: dl.softmax %{{.*}} axis 1 : tensor<3x4xf32>
func.func @softmax(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = dl.softmax %x axis 1 : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
