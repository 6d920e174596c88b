// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

dl.variable @w : tensor<3xf32> role(parameter) init(dense<[1.0, 2.0, 3.0]> : tensor<3xf32>)

// CHECK-LABEL: func.func @read(
// CHECK: dl.read @w : tensor<3xf32>
func.func @read() -> tensor<3xf32> attributes {dl.entry, dl.expect = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} {
  %w = dl.read @w : tensor<3xf32>
  return %w : tensor<3xf32>
}
