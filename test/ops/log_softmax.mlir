// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @log_softmax
// CHECK: dl.log_softmax %{{.*}} axis 0 : tensor<3x4xf32>
func.func @log_softmax(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = dl.log_softmax %x axis 0 : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
