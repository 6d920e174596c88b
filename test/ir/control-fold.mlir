// RUN: dlc-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @constant_predicate
// CHECK-NEXT: dl.exp
// CHECK-NEXT: return
func.func @constant_predicate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = dl.constant dense<true> : tensor<i1>
  %0 = dl.cond %p (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = dl.exp %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  } else (%a) {
    dl.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @no_step
// CHECK-SAME: (%[[H:.*]]: tensor<4xf32>,
// CHECK: %[[Z:.*]] = dl.constant dense<{{.*}}> : tensor<0x4xf32>
// CHECK: return %[[H]], %[[Z]]
func.func @no_step(%h: tensor<4xf32>, %x: tensor<0x4xf32>) -> (tensor<4xf32>, tensor<0x4xf32>) {
  %0:2 = dl.scan 0 carry(%a = %h : tensor<4xf32>) slices(%b = %x : tensor<0x4xf32>) -> (tensor<4xf32>, tensor<0x4xf32>) {
    %1 = dl.add %a, %b : tensor<4xf32>
    dl.yield %1, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<0x4xf32>
}

// -----

// CHECK-LABEL: func.func @one_step
// CHECK-NOT: dl.scan
// CHECK: %[[X:.*]] = dl.reshape %{{.*}} : (tensor<1x4xf32>) -> tensor<4xf32>
// CHECK: %[[S:.*]] = dl.add %{{.*}}, %[[X]]
// CHECK: %[[Y:.*]] = dl.reshape %[[S]] : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK: return %[[S]], %[[Y]]
func.func @one_step(%h: tensor<4xf32>, %x: tensor<1x4xf32>) -> (tensor<4xf32>, tensor<1x4xf32>) {
  %0:2 = dl.scan 1 carry(%a = %h : tensor<4xf32>) slices(%b = %x : tensor<1x4xf32>) -> (tensor<4xf32>, tensor<1x4xf32>) {
    %1 = dl.add %a, %b : tensor<4xf32>
    dl.yield %1, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<1x4xf32>
}

// -----

// What no one reads goes, with what only it needs; a value carried unchanged is whole; constants go inside; equal
// operands are one.
// CHECK-LABEL: func.func @unused
// CHECK-SAME: (%[[H:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<3x4xf32>, %{{.*}}: tensor<3x4xf32>, %[[W:.*]]: tensor<4xf32>)
// CHECK-NEXT: dl.scan 3 carry(%[[A:.*]] = %[[H]] : tensor<4xf32>) slices(%[[B:.*]] = %[[X]] : tensor<3x4xf32>)
// CHECK-SAME: whole(%[[C:.*]] = %[[W]] : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   dl.constant
// CHECK-NOT: dl.exp
// CHECK-NOT: dl.sin
func.func @unused(%h: tensor<4xf32>, %x: tensor<3x4xf32>, %y: tensor<3x4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %half = dl.constant dense<0.5> : tensor<4xf32>
  %0:5 = dl.scan 3 carry(%a = %h : tensor<4xf32>, %same = %w : tensor<4xf32>, %dead = %h : tensor<4xf32>)
      slices(%b = %x : tensor<3x4xf32>, %e = %y : tensor<3x4xf32>)
      whole(%c = %half : tensor<4xf32>, %u = %w : tensor<4xf32>, %v = %w : tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
    %1 = dl.mul %a, %c : tensor<4xf32>
    %2 = dl.add %1, %b : tensor<4xf32>
    %3 = dl.mul %2, %same : tensor<4xf32>
    %4 = dl.mul %u, %v : tensor<4xf32>
    %5 = dl.add %3, %4 : tensor<4xf32>
    %6 = dl.exp %e : tensor<4xf32>
    %7 = dl.sin %dead : tensor<4xf32>
    dl.yield %5, %same, %7, %6, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @unused_of_cond
// CHECK-SAME: (%[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<4xf32>,
// CHECK: dl.cond %[[P]] (%{{.*}} = %[[X]] : tensor<4xf32>) -> tensor<4xf32> {
func.func @unused_of_cond(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = dl.cond %p (%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %1 = dl.neg %a : tensor<4xf32>
    %2 = dl.neg %b : tensor<4xf32>
    dl.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  } else (%a, %b) {
    %1 = dl.exp %a : tensor<4xf32>
    dl.yield %1, %b : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0 : tensor<4xf32>
}
