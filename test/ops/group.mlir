// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @group(
// CHECK: %[[R:.*]]:2 = dl.group kind(pointwise) [4] (%[[A:.*]] = %{{.*}} : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-SAME: attributes {in_place = array<i64: 0, -1>, slots = [#dl.slot<"activation", 0, 16>, #dl.slot<"activation", 64, 16>]}
// CHECK: %[[E:.*]] = dl.exp %[[A]]
// CHECK: dl.yield %[[E]], %{{.*}} : tensor<4xf32>, tensor<4xf32>
func.func @group(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2 = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      attributes {in_place = array<i64: 0, -1>, slots = [#dl.slot<"activation", 0, 16>, #dl.slot<"activation", 64, 16>]} {
    %e = dl.exp %a : tensor<4xf32>
    %n = dl.neg %e : tensor<4xf32>
    dl.yield %e, %n : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
