// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce_or
// CHECK: dl.reduce_or %{{.*}} over [1] : (tensor<3x4xi1>) -> tensor<3xi1>
func.func @reduce_or(%x: tensor<3x4xi1>) -> tensor<3xi1> {
  %y = dl.reduce_or %x over [1] : (tensor<3x4xi1>) -> tensor<3xi1>
  return %y : tensor<3xi1>
}
