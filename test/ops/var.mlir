// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @var
// CHECK: dl.var %{{.*}} over [0] correction 1.000000e+00 : (tensor<3x4xf32>) -> tensor<4xf32>
func.func @var(%x: tensor<3x4xf32>) -> tensor<4xf32> {
  %y = dl.var %x over [0] correction 1.000000e+00 : (tensor<3x4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
