// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @logsumexp
// CHECK: dl.logsumexp %{{.*}} over [1] : (tensor<3x4xf32>) -> tensor<3xf32>
func.func @logsumexp(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %y = dl.logsumexp %x over [1] : (tensor<3x4xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
