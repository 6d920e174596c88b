// RUN: dlc explain --casts %s --amp bf16 | FileCheck %s --match-full-lines
// RUN: dlc explain --casts %s | FileCheck %s --check-prefix=NONE
// RUN: dlc explain --casts %s --amp bf16 --observe | FileCheck %s --check-prefix=RANGE
// RUN: dlc compile %s --amp fp16 --emit dl | FileCheck %s --check-prefix=MARKS
// RUN: not dlc compile %s --amp fp8 --emit dl 2>&1 | FileCheck %s --check-prefix=FP8

// What reads the cast, where, why, and what its readers do not read: 16 bytes of x become 8, 32 of w become 16.
// CHECK: loss
// CHECK-NEXT: op {{ *}}line {{ *}}value {{ *}}reason {{ *}}bytes saved
// CHECK-NEXT: dl.dot_general {{.*}}dlc-explain.mlir:[[#@LINE+16]]:8 {{ *}}1x4xf32 to bf16 {{ *}}operand of dl.dot_general, policy low {{ *}}8
// CHECK-NEXT: dl.dot_general {{.*}}:8 {{ *}}4x2xf32 to bf16 {{ *}}operand of dl.dot_general, policy low {{ *}}16
// CHECK-NEXT: dl.reduce_sum {{.*}} {{ *}}1x2xbf16 to f32 {{ *}}operand of dl.reduce_sum, policy full {{ *}}0
// CHECK-NEXT: 3 casts, 24 bytes saved
// NONE: 0 casts
// The weights are 1: sums of -0.5.
// RANGE: max |x| {{ *}}min |x| > 0
// RANGE: 1x4xf32 to bf16 {{.*}} 8 {{ *}}3 {{ *}}0.5
// RANGE: 4x2xf32 to bf16 {{.*}} 16 {{ *}}1 {{ *}}1
// RANGE: 1x2xbf16 to f32 {{.*}} 0 {{ *}}0.5 {{ *}}0.5
// MARKS: dl.dot_general {{.*}} {dl.autocast = f16}
// FP8: --amp: fp8 not in {bf16,fp16}
dl.variable @w : tensor<4x2xf32> role(parameter) init(#dl.constant<1.0>)
func.func @loss() -> (tensor<f32> {dl.name = "loss"}) attributes {dl.entry} {
  %x = dl.constant dense<[[0.0, -3.0, 0.5, 2.0]]> : tensor<1x4xf32>
  %w = dl.read @w : tensor<4x2xf32>
  %h = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  %loss = dl.reduce_sum %h over [0, 1] : (tensor<1x2xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
