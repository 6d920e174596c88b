// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

dl.variable @w : tensor<2xf32> role(parameter) init(dense<[1.0, 2.0]> : tensor<2xf32>)

// A read sees the write before it; the result is the old value.
// CHECK-LABEL: func.func @write(
// CHECK: dl.write @w, %{{.*}} : tensor<2xf32>
func.func @write() -> (tensor<2xf32>, tensor<2xf32>)
    attributes {dl.entry, dl.expect = [dense<[1.0, 2.0]> : tensor<2xf32>, dense<[2.0, 4.0]> : tensor<2xf32>]} {
  %old = dl.read @w : tensor<2xf32>
  %double = dl.add %old, %old : tensor<2xf32>
  dl.write @w, %double : tensor<2xf32>
  %new = dl.read @w : tensor<2xf32>
  return %old, %new : tensor<2xf32>, tensor<2xf32>
}
