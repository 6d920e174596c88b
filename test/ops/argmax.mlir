// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @argmax
// CHECK: dl.argmax %{{.*}} over [1] : (tensor<3x4xf32>) -> tensor<3xi64>
func.func @argmax(%x: tensor<3x4xf32>) -> tensor<3xi64> {
  %y = dl.argmax %x over [1] : (tensor<3x4xf32>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}
