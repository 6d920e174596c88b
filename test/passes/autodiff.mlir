// RUN: dlc-opt %s -dl-autodiff -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @square
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: %[[ONE:.*]] = dl.constant dense<1.0
// CHECK: %[[A:.*]] = dl.mul %[[ONE]], %[[X]]
// CHECK: %[[B:.*]] = dl.mul %[[ONE]], %[[X]]
// CHECK: %[[G:.*]] = dl.add %[[A]], %[[B]]
// CHECK-NOT: dl.gradient
// CHECK: return %[[G]]
func.func @square(%x: tensor<f32>) -> tensor<f32> {
  %y = dl.mul %x, %x : tensor<f32>
  %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
  return %g : tensor<f32>
}

// Contributions come in reverse use order, as one chain: (c*y + b*y) + a*y … with the last use first.
// CHECK-LABEL: func.func @reverse_use_order
// CHECK-SAME: (%[[X:.*]]: tensor<f32>, %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>)
// CHECK: dl.constant dense<1.0
// CHECK: %[[FROM_C:.*]] = dl.mul %{{.*}}, %[[C]]
// CHECK: %[[FROM_B:.*]] = dl.mul %{{.*}}, %[[B]]
// CHECK: %[[CB:.*]] = dl.add %[[FROM_C]], %[[FROM_B]]
// CHECK: %[[FROM_A:.*]] = dl.mul %{{.*}}, %[[A]]
// CHECK: %[[CBA:.*]] = dl.add %[[CB]], %[[FROM_A]]
// CHECK: return %[[CBA]]
func.func @reverse_use_order(%x: tensor<f32>, %a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>) -> tensor<f32> {
  %xa = dl.mul %x, %a : tensor<f32>
  %xb = dl.mul %x, %b : tensor<f32>
  %xc = dl.mul %x, %c : tensor<f32>
  %s = dl.add %xa, %xb : tensor<f32>
  %y = dl.add %s, %xc : tensor<f32>
  %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
  return %g : tensor<f32>
}

// The total derivative: the one of x goes on through y, which is a wrt value too.
// CHECK-LABEL: func.func @through_wrt
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: %[[Y:.*]] = dl.neg %[[X]]
// CHECK: %[[ONE:.*]] = dl.constant dense<1.0
// CHECK: %[[GX:.*]] = dl.neg %[[ONE]]
// CHECK: return %[[GX]], %[[ONE]]
func.func @through_wrt(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %y = dl.neg %x : tensor<f32>
  %g:2 = dl.gradient %y wrt %x, %y : tensor<f32>, tensor<f32>, tensor<f32>
  return %g#0, %g#1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @stops
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: dl.mul %[[X]], %[[X]]
// CHECK: %[[G:.*]] = dl.mul %{{.*}}, %[[X]]
// CHECK-NOT: stop_gradient
// CHECK: return %[[G]]
func.func @stops(%x: tensor<f32>) -> tensor<f32> {
  %s = dl.stop_gradient %x : tensor<f32>
  %y = dl.mul %x, %s : tensor<f32>
  %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
  return %g : tensor<f32>
}

// CHECK-LABEL: func.func @unused_is_zero
// CHECK: %[[ZERO:.*]] = dl.constant dense<0.0{{.*}}> : tensor<3xf32>
// CHECK: return %[[ZERO]]
func.func @unused_is_zero(%x: tensor<f32>, %u: tensor<3xf32>) -> tensor<3xf32> {
  %y = dl.mul %x, %x : tensor<f32>
  %g = dl.gradient %y wrt %u allow_unused : tensor<f32>, tensor<3xf32>
  return %g : tensor<3xf32>
}

// A branch not taken gives exactly 0: the product with its local derivative is chosen by the mask.
// CHECK-LABEL: func.func @masked
// CHECK-SAME: (%[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<f32>, %[[A:.*]]: tensor<f32>)
// CHECK: dl.constant dense<1.0
// CHECK: %[[ROUTED:.*]] = dl.select %[[P]], %{{.*}}, %{{.*}}
// CHECK: %[[PRODUCT:.*]] = dl.mul %[[ROUTED]], %[[A]]
// CHECK: %[[G:.*]] = dl.select %[[P]], %[[PRODUCT]], %{{.*}}
// CHECK: return %[[G]]
func.func @masked(%p: tensor<i1>, %x: tensor<f32>, %a: tensor<f32>) -> tensor<f32> {
  %xa = dl.mul %x, %a : tensor<f32>
  %y = dl.select %p, %xa, %a : tensor<f32>
  %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func @unused(%x: tensor<f32>, %u: tensor<f32>) -> tensor<f32> {
  %y = dl.mul %x, %x : tensor<f32>
  // expected-error@+1 {{expects every wrt value to influence the loss, got number 1, which does not; use allow_unused for a zero gradient}}
  %g:2 = dl.gradient %y wrt %x, %u : tensor<f32>, tensor<f32>, tensor<f32>
  return %g#1 : tensor<f32>
}

// -----

// What only stop_gradient connects does not influence the loss.
func.func @stopped(%x: tensor<f32>) -> tensor<f32> {
  %s = dl.stop_gradient %x : tensor<f32>
  %y = dl.mul %s, %s : tensor<f32>
  // expected-error@+1 {{got number 0, which does not}}
  %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func @no_rule(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'dl.group' op expects a derivative rule or a decomposition, got neither}}
  %h = dl.group kind(pointwise) [] (%a = %x : tensor<f32>) -> tensor<f32> {
    %b = dl.neg %a : tensor<f32>
    dl.yield %b : tensor<f32>
  }
  // expected-note@+1 {{the loss depends on it through 'dl.neg'}}
  %n = dl.neg %h : tensor<f32>
  // expected-note@+1 {{the loss depends on it through 'dl.mul'}}
  %y = dl.mul %n, %x : tensor<f32>
  // expected-note@+1 {{differentiated here}}
  %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
  return %g : tensor<f32>
}
