// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @iota
// CHECK: dl.iota axis 1 : tensor<2x3xi64>
func.func @iota() -> tensor<2x3xi64> {
  %y = dl.iota axis 1 : tensor<2x3xi64>
  return %y : tensor<2x3xi64>
}
