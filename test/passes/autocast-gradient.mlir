// RUN: dlc-opt %s -dl-autocast -dl-check-autocast -split-input-file | FileCheck %s
// RUN: dlc-opt %s -dl-autocast -dl-check-autocast -dl-autodiff -dl-decompose -dl-simplify -split-input-file | FileCheck %s --check-prefix=GRAD

// The gradient is outside of the scope; the products of its expansion are those of the ops' own marks, and what is by a
// weight in f32 is in f32. A bias sums in f32.
// CHECK-LABEL: func.func @weight
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x2xf32>, %[[B:.*]]: tensor<2xf32>)
// CHECK: dl.gradient %{{.*}} wrt %[[W]], %[[B]] : tensor<f32>, tensor<8x2xf32>, tensor<2xf32>
// GRAD-LABEL: func.func @weight
// GRAD-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x2xf32>, %[[B:.*]]: tensor<2xf32>)
// GRAD: %[[XL:.*]] = dl.cast %[[X]] {{.*}} to tensor<4x8xbf16>
// GRAD: %[[DB:.*]] = dl.reduce_sum %{{.*}} over [0] : (tensor<4x2xf32>) -> tensor<2xf32>
// GRAD: %[[G:.*]] = dl.dot_general %{{.*}} {{.*}} : (tensor<{{.*}}xbf16>, tensor<{{.*}}xbf16>) -> tensor<{{.*}}xbf16>
// GRAD: dl.cast %{{.*}} : tensor<8x2xbf16> to tensor<8x2xf32>
func.func @weight(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> (tensor<8x2xf32>, tensor<2xf32>) {
  %h = dl.dot_general %x, %w batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %bb = dl.broadcast %b dims [1] {dl.autocast = bf16} : (tensor<2xf32>) -> tensor<4x2xf32>
  %a = dl.add %h, %bb {dl.autocast = bf16} : tensor<4x2xf32>
  %t = dl.tanh %a {dl.autocast = bf16} : tensor<4x2xf32>
  %loss = dl.reduce_sum %t over [0, 1] {dl.autocast = bf16} : (tensor<4x2xf32>) -> tensor<f32>
  %g:2 = dl.gradient %loss wrt %w, %b : tensor<f32>, tensor<8x2xf32>, tensor<2xf32>
  return %g#0, %g#1 : tensor<8x2xf32>, tensor<2xf32>
}

// -----

// By a value that is computed in 16 bits: all of its readers are on the way.
// CHECK-LABEL: func.func @activation
// CHECK: %[[H:.*]] = dl.dot_general {{.*}} -> tensor<4x4xbf16>
// CHECK: %[[G:.*]] = dl.gradient %{{.*}} wrt %[[H]] : tensor<f32>, tensor<4x4xbf16>
// CHECK: %[[WIDE:.*]] = dl.cast %[[G]] {{.*}} to tensor<4x4xf32>
// CHECK: return %[[WIDE]]
func.func @activation(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %h = dl.dot_general %x, %x batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %k = dl.dot_general %h, %h batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = dl.softmax %h axis 1 {dl.autocast = bf16} : tensor<4x4xf32>
  %m = dl.add %k, %s {dl.autocast = bf16} : tensor<4x4xf32>
  %loss = dl.reduce_sum %m over [0, 1] {dl.autocast = bf16} : (tensor<4x4xf32>) -> tensor<f32>
  %g = dl.gradient %loss wrt %h {dl.autocast = bf16} : tensor<f32>, tensor<4x4xf32>
  return %g : tensor<4x4xf32>
}

// -----

// By a value that its readers would get around: they do not.
// CHECK-LABEL: func.func @between_casts
// CHECK: %[[WIDE:.*]] = dl.cast %{{.*}} : tensor<4x4xbf16> to tensor<4x4xf32>
// CHECK: %[[LOW:.*]] = dl.cast %[[WIDE]] {{.*}} to tensor<4x4xbf16>
// CHECK: dl.dot_general %[[LOW]], %[[LOW]]
// CHECK: dl.gradient %{{.*}} wrt %[[WIDE]]
func.func @between_casts(%x: tensor<4x4xbf16>) -> tensor<4x4xf32> {
  %wide = dl.cast %x : tensor<4x4xbf16> to tensor<4x4xf32>
  %h = dl.dot_general %wide, %wide batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %loss = dl.reduce_sum %h over [0, 1] {dl.autocast = bf16} : (tensor<4x4xf32>) -> tensor<f32>
  %g = dl.gradient %loss wrt %wide : tensor<f32>, tensor<4x4xf32>
  return %g : tensor<4x4xf32>
}
