// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @iota(
// CHECK: dl.iota axis 1 : tensor<2x3xi64>
func.func @iota() -> tensor<2x3xi64> attributes {dl.expect = dense<[[0,1,2],[0,1,2]]> : tensor<2x3xi64>} {
  %y = dl.iota axis 1 : tensor<2x3xi64>
  return %y : tensor<2x3xi64>
}

func.func @floats() -> tensor<2x2xf32> attributes {dl.expect = dense<[[0.0,0.0],[1.0,1.0]]> : tensor<2x2xf32>} {
  %y = dl.iota axis 0 : tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

func.func @size_3x70() -> tensor<3x70xi32> {
  %y = dl.iota axis 1 : tensor<3x70xi32>
  return %y : tensor<3x70xi32>
}

func.func @size_70x3() -> tensor<70x3xf32> {
  %y = dl.iota axis 0 : tensor<70x3xf32>
  return %y : tensor<70x3xf32>
}
