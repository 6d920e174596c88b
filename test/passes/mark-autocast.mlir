// RUN: dlc-opt %s -dl-mark-autocast=type=fp16 | FileCheck %s
// RUN: dlc-opt %s -dl-import-pipeline="amp=bf16 train=sgd" | FileCheck %s --check-prefix=TRAIN

// Ops of entries, also inside of regions; one that has a mark keeps it; ops without a precision have none.
// CHECK-LABEL: func.func @loss
// CHECK: dl.read @w : tensor<4x4xf32>
// CHECK: dl.dot_general {{.*}} {dl.autocast = f16}
// CHECK: dl.cond
// CHECK: dl.neg {{.*}} {dl.autocast = f16}
// CHECK: dl.reduce_sum {{.*}} {dl.autocast = bf16}
// CHECK-LABEL: func.func @other
// CHECK-NOT: dl.autocast
// The update is not in the scope.
// TRAIN: dl.dot_general {{.*}} {dl.autocast = bf16}
// TRAIN: dl.gradient {{.*}} : tensor<f32>
// TRAIN-NOT: dl.autocast
// TRAIN: dl.write
dl.variable @w : tensor<4x4xf32> role(parameter) init(#dl.zeros)
func.func @loss(%x: tensor<4x4xf32>, %p: tensor<i1>) -> tensor<f32> attributes {dl.entry} {
  %w = dl.read @w : tensor<4x4xf32>
  %h = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = dl.cond %p (%a = %h : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %0 = dl.neg %a : tensor<4x4xf32>
    dl.yield %0 : tensor<4x4xf32>
  } else (%a) {
    dl.yield %a : tensor<4x4xf32>
  }
  %loss = dl.reduce_sum %c over [0, 1] {dl.autocast = bf16} : (tensor<4x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dl.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
