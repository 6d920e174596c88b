// RUN: dlc-opt %s -dl-autodiff -dl-decompose -dl-simplify -split-input-file | FileCheck %s
// RUN: dlc-opt %s -dl-autodiff=decompose-first -dl-decompose -dl-simplify -split-input-file | FileCheck %s --check-prefix=WITHOUT

// The body's tanh is there twice: the second, for the backward pass, on operands behind the cotangent of its result.
// CHECK-LABEL: func.func @once
// CHECK: %[[T:.*]] = dl.tanh
// CHECK: %[[E:.*]] = dl.exp %[[T]]
// CHECK: dl.reduce_sum %[[E]]
// CHECK-DAG: %[[X:.*]] = dl.barrier_value %arg0 : tensor<4xf32> after %[[G:.*]] : tensor<4xf32>
// CHECK-DAG: %[[W:.*]] = dl.barrier_value %arg1 : tensor<4xf32> after %[[G]] : tensor<4xf32>
// CHECK: %[[M:.*]] = dl.mul %[[X]], %[[W]]
// CHECK: dl.tanh %[[M]]
// CHECK: return
// Without a rule of its own it is its body, whose values are kept.
// WITHOUT-LABEL: func.func @once
// WITHOUT: dl.tanh
// WITHOUT-NOT: dl.tanh
// WITHOUT-NOT: dl.barrier_value
// WITHOUT: return
func.func @once(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %y = dl.checkpoint (%a = %x : tensor<4xf32>, %b = %w : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.mul %a, %b : tensor<4xf32>
    %1 = dl.tanh %0 : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  %e = dl.exp %y : tensor<4xf32>
  %loss = dl.reduce_sum %e over [0] : (tensor<4xf32>) -> tensor<f32>
  %g = dl.gradient %loss wrt %w : tensor<f32>, tensor<4xf32>
  return %loss, %g : tensor<f32>, tensor<4xf32>
}

// -----

// Two of them: the last is computed again first, the first when the way back has passed the last.
// CHECK-LABEL: func.func @order
// CHECK: dl.sin
// CHECK: dl.exp
// CHECK: dl.barrier_value {{.*}} after
// CHECK: dl.exp
// CHECK: dl.mul
// CHECK: dl.barrier_value %arg0 {{.*}} after
// CHECK: dl.cos
// CHECK: return
func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = dl.checkpoint (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.sin %a : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  %z = dl.checkpoint (%a = %y : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.exp %a : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  %s = dl.mul %z, %z : tensor<4xf32>
  %loss = dl.reduce_sum %s over [0] : (tensor<4xf32>) -> tensor<f32>
  %g = dl.gradient %loss wrt %x : tensor<f32>, tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// Nested: what is inside the inner one is computed three times.
// CHECK-LABEL: func.func @nested
// CHECK-COUNT-3: dl.exp
// CHECK-NOT: dl.exp
// CHECK: return
func.func @nested(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %y = dl.checkpoint (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.sin %a : tensor<4xf32>
    %i = dl.checkpoint (%b = %0 : tensor<4xf32>) -> (tensor<4xf32>) {
      %1 = dl.exp %b : tensor<4xf32>
      dl.yield %1 : tensor<4xf32>
    }
    %2 = dl.mul %i, %i : tensor<4xf32>
    dl.yield %2 : tensor<4xf32>
  }
  %s = dl.mul %y, %y : tensor<4xf32>
  %loss = dl.reduce_sum %s over [0] : (tensor<4xf32>) -> tensor<f32>
  %g = dl.gradient %loss wrt %x : tensor<f32>, tensor<4xf32>
  return %loss, %g : tensor<f32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @no_derivative
// CHECK-NEXT: %[[Y:.*]] = dl.exp %arg0
// CHECK-NEXT: return %[[Y]]
func.func @no_derivative(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = dl.checkpoint (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.exp %a : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Constants need no barrier, and nobody waits for them.
// CHECK-LABEL: func.func @constants
// CHECK-NOT: dl.barrier_value
// CHECK: return
func.func @constants(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = dl.constant dense<2.0> : tensor<4xf32>
  %a = dl.barrier_value %c : tensor<4xf32> after %x : tensor<4xf32>
  %b = dl.barrier_value %c : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Not folded into the value, nor shared with it.
// CHECK-LABEL: func.func @kept
// CHECK: dl.exp %arg0
// CHECK: %[[B:.*]] = dl.barrier_value %arg0 : tensor<4xf32>{{$}}
// CHECK: dl.exp %[[B]]
func.func @kept(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = dl.exp %x : tensor<4xf32>
  %one = dl.constant dense<1.0> : tensor<f32>
  %b = dl.barrier_value %x : tensor<4xf32> after %one : tensor<f32>
  %1 = dl.exp %b : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
