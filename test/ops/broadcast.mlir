// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @broadcast
// CHECK: dl.broadcast %{{.*}} dims [1, 2] : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
func.func @broadcast(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %y = dl.broadcast %x dims [1, 2] : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
