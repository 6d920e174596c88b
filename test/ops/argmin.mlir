// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @argmin
// CHECK: dl.argmin %{{.*}} over [1] : (tensor<3x4xf32>) -> tensor<3xi64>
func.func @argmin(%x: tensor<3x4xf32>) -> tensor<3xi64> {
  %y = dl.argmin %x over [1] : (tensor<3x4xf32>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}
