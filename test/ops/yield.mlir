// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @yield(
// CHECK: dl.yield %{{.*}} : tensor<i1>
func.func @yield(%x: tensor<i1>) -> tensor<i1> {
  %r = dl.group kind(pointwise) [] (%a = %x : tensor<i1>) -> (tensor<i1>) {
    %n = dl.not %a : tensor<i1>
    dl.yield %n : tensor<i1>
  }
  return %r : tensor<i1>
}
