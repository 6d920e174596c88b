// RUN: dlc-opt %s -dl-autodiff -split-input-file -verify-diagnostics | FileCheck %s

// The derivative of a x by x is a.
// CHECK-LABEL: func.func @line
// CHECK-SAME: (%[[A:.*]]: tensor<f32>, %{{.*}}: tensor<f32>)
// CHECK: %[[ONE:.*]] = dl.constant dense<1.0
// CHECK: %[[G:.*]] = dl.mul %[[ONE]], %[[A]]
// CHECK: return %[[G]]
func.func @line(%a: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %y = dl.mul %a, %x : tensor<f32>
  %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func @types_differ(%a: tensor<4xf32>, %b: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{use of value '%b' expects different type than prior uses: 'tensor<4xf32>' vs 'tensor<3xf32>'}}
  // expected-note @-2 {{prior use here}}
  %0 = dl.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
