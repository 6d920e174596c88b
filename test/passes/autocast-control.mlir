// RUN: dlc-opt %s -dl-autocast -dl-check-autocast -split-input-file | FileCheck %s

// A body is a program of its own: values go in and out as written. A bias from outside is still one inside.
dl.variable @b : tensor<4xf32> role(parameter) init(#dl.zeros)
// CHECK-LABEL: func.func @scan
// CHECK: dl.scan 5 carry(%[[H:.*]] = %{{.*}} : tensor<2x4xf32>) whole(%[[U:.*]] = %{{.*}} : tensor<4x4xf32>, %[[B:.*]] = %{{.*}} : tensor<4xf32>) -> tensor<2x4xf32>
// CHECK: %[[HL:.*]] = dl.cast %[[H]] {{.*}} to tensor<2x4xbf16>
// CHECK: %[[UL:.*]] = dl.cast %[[U]] {{.*}} to tensor<4x4xbf16>
// CHECK: %[[D:.*]] = dl.dot_general %[[HL]], %[[UL]] {{.*}} -> tensor<2x4xbf16>
// CHECK: %[[S:.*]] = dl.add %{{.*}}, %{{.*}} : tensor<2x4xf32>
// CHECK: %[[SL:.*]] = dl.cast %[[S]] {dl.reason = "result of dl.add, policy follow"} : tensor<2x4xf32> to tensor<2x4xbf16>
// CHECK: %[[T:.*]] = dl.tanh %[[SL]] : tensor<2x4xbf16>
// CHECK: %[[N:.*]] = dl.cast %[[T]] {dl.reason = "dl.yield is outside of autocast"} : tensor<2x4xbf16> to tensor<2x4xf32>
// CHECK: dl.yield %[[N]] : tensor<2x4xf32>
func.func @scan(%h0: tensor<2x4xf32>, %u: tensor<4x4xf32>) -> tensor<2x4xf32> attributes {dl.entry} {
  %b = dl.read @b : tensor<4xf32>
  %y = dl.scan 5 carry(%h = %h0 : tensor<2x4xf32>) whole(%w = %u : tensor<4x4xf32>, %c = %b : tensor<4xf32>) -> (tensor<2x4xf32>) {
    %0 = dl.dot_general %h, %w batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %1 = dl.broadcast %c dims [1] {dl.autocast = bf16} : (tensor<4xf32>) -> tensor<2x4xf32>
    %2 = dl.add %0, %1 {dl.autocast = bf16} : tensor<2x4xf32>
    %n = dl.tanh %2 {dl.autocast = bf16} : tensor<2x4xf32>
    dl.yield %n : tensor<2x4xf32>
  }
  return %y : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @cond
// CHECK: dl.cond
// CHECK: dl.dot_general {{.*}} -> tensor<4x4xbf16>
// CHECK: dl.cast {{.*}} to tensor<4x4xf32>
// CHECK: dl.yield {{.*}} : tensor<4x4xf32>
// CHECK: dl.dot_general {{.*}} -> tensor<4x4xf32>
// CHECK: dl.yield {{.*}} : tensor<4x4xf32>
func.func @cond(%p: tensor<i1>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = dl.cond %p (%a = %x : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %0 = dl.dot_general %a, %a batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    dl.yield %0 : tensor<4x4xf32>
  } else (%a) {
    %0 = dl.dot_general %a, %a batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    dl.yield %0 : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}
