// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce_and
// CHECK: dl.reduce_and %{{.*}} over [1] : (tensor<3x4xi1>) -> tensor<3xi1>
func.func @reduce_and(%x: tensor<3x4xi1>) -> tensor<3xi1> {
  %y = dl.reduce_and %x over [1] : (tensor<3x4xi1>) -> tensor<3xi1>
  return %y : tensor<3xi1>
}
