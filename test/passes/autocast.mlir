// RUN: dlc-opt %s -dl-autocast -dl-check-autocast -split-input-file -verify-diagnostics | FileCheck %s

// A low op takes and gives 16 bits; what is not marked sees the type as written.
// CHECK-LABEL: func.func @low
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x2xf32>)
// CHECK: %[[XL:.*]] = dl.cast %[[X]] {dl.reason = "operand of dl.dot_general, policy low"} : tensor<4x8xf32> to tensor<4x8xbf16>
// CHECK: %[[WL:.*]] = dl.cast %[[W]] {{.*}} : tensor<8x2xf32> to tensor<8x2xbf16>
// CHECK: %[[H:.*]] = dl.dot_general %[[XL]], %[[WL]] {{.*}} : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
// CHECK-NOT: dl.autocast
// CHECK: %[[Y:.*]] = dl.cast %[[H]] {dl.reason = "func.return is outside of autocast"} : tensor<4x2xbf16> to tensor<4x2xf32>
// CHECK: return %[[Y]]
func.func @low(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %h = dl.dot_general %x, %w batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %h : tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @type_of_the_mark
// CHECK: dl.dot_general {{.*}} -> tensor<4x2xf16>
func.func @type_of_the_mark(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %h = dl.dot_general %x, %w batch [] x [] contract [1] x [0] {dl.autocast = f16} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %h : tensor<4x2xf32>
}

// -----

// A full op takes f32, from the 16 bits that were rounded.
// CHECK-LABEL: func.func @full
// CHECK: %[[H:.*]] = dl.dot_general {{.*}} -> tensor<4x4xbf16>
// CHECK: %[[WIDE:.*]] = dl.cast %[[H]] {dl.reason = "operand of dl.softmax, policy full"} : tensor<4x4xbf16> to tensor<4x4xf32>
// CHECK: %[[S:.*]] = dl.softmax %[[WIDE]] axis 1 : tensor<4x4xf32>
// CHECK: %[[R:.*]] = dl.reduce_sum %[[WIDE]] over [1]
// CHECK-NOT: dl.cast
// CHECK: return %[[S]], %[[R]]
func.func @full(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %h = dl.dot_general %x, %x batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = dl.softmax %h axis 1 {dl.autocast = bf16} : tensor<4x4xf32>
  %r = dl.reduce_sum %h over [1] {dl.autocast = bf16} : (tensor<4x4xf32>) -> tensor<4xf32>
  return %s, %r : tensor<4x4xf32>, tensor<4xf32>
}

// -----

// Ops that follow: in 16 bits behind a low op, between low ops without any cast.
// CHECK-LABEL: func.func @follow
// CHECK: %[[H:.*]] = dl.dot_general {{.*}} -> tensor<4x4xbf16>
// CHECK-NEXT: %[[R:.*]] = dl.relu %[[H]] : tensor<4x4xbf16>
// CHECK-NEXT: %[[A:.*]] = dl.add %[[R]], %[[H]] : tensor<4x4xbf16>
// CHECK-NEXT: %[[T:.*]] = dl.transpose %[[A]] {{.*}} -> tensor<4x4xbf16>
// CHECK-NEXT: %[[K:.*]] = dl.dot_general %[[T]], %[[R]]
// CHECK-NEXT: %[[Y:.*]] = dl.cast %[[K]]
// CHECK-NEXT: return %[[Y]]
func.func @follow(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %h = dl.dot_general %x, %x batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = dl.relu %h {dl.autocast = bf16} : tensor<4x4xf32>
  %a = dl.add %r, %h {dl.autocast = bf16} : tensor<4x4xf32>
  %t = dl.transpose %a permutation [1, 0] {dl.autocast = bf16} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %k = dl.dot_general %t, %r batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %k : tensor<4x4xf32>
}

// -----

// In f32 where one of the operands is: the sum of a residual stream is not rounded.
// CHECK-LABEL: func.func @follow_f32
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>)
// CHECK: %[[H:.*]] = dl.dot_general {{.*}} -> tensor<4x4xbf16>
// CHECK: %[[WIDE:.*]] = dl.cast %[[H]] {dl.reason = "operand of dl.add, policy follow, with others in f32"}
// CHECK: %[[A:.*]] = dl.add %[[X]], %[[WIDE]] : tensor<4x4xf32>
// CHECK: %[[R:.*]] = dl.relu %[[A]] : tensor<4x4xf32>
// CHECK: return %[[R]]
func.func @follow_f32(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %h = dl.dot_general %x, %x batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = dl.add %x, %h {dl.autocast = bf16} : tensor<4x4xf32>
  %r = dl.relu %a {dl.autocast = bf16} : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// A bias and a number go along: in f32, rounded once.
dl.variable @b : tensor<2xf32> role(parameter) init(#dl.zeros)
// CHECK-LABEL: func.func @spread
// CHECK: %[[B:.*]] = dl.read @b
// CHECK: %[[H:.*]] = dl.dot_general {{.*}} -> tensor<4x2xbf16>
// CHECK: %[[BB:.*]] = dl.broadcast %[[B]]
// CHECK: %[[WIDE:.*]] = dl.cast %[[H]] {dl.reason = "operand of dl.add, policy follow, rounded once"} : tensor<4x2xbf16> to tensor<4x2xf32>
// CHECK: %[[S:.*]] = dl.add %[[WIDE]], %[[BB]] : tensor<4x2xf32>
// CHECK: %[[SL:.*]] = dl.cast %[[S]] {dl.reason = "result of dl.add, policy follow"} : tensor<4x2xf32> to tensor<4x2xbf16>
// CHECK: %[[SW:.*]] = dl.cast %[[SL]] {{.*}} to tensor<4x2xf32>
// CHECK: %[[M:.*]] = dl.mul %[[SW]], %{{.*}} : tensor<4x2xf32>
// CHECK: %[[ML:.*]] = dl.cast %[[M]] {{.*}} to tensor<4x2xbf16>
// CHECK: %[[G:.*]] = dl.gelu %[[ML]] : tensor<4x2xbf16>
func.func @spread(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> attributes {dl.entry} {
  %b = dl.read @b : tensor<2xf32>
  %c = dl.constant dense<0.1> : tensor<f32>
  %h = dl.dot_general %x, %w batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %bb = dl.broadcast %b dims [1] {dl.autocast = bf16} : (tensor<2xf32>) -> tensor<4x2xf32>
  %s = dl.add %h, %bb {dl.autocast = bf16} : tensor<4x2xf32>
  %cc = dl.broadcast %c dims [] {dl.autocast = bf16} : (tensor<f32>) -> tensor<4x2xf32>
  %m = dl.mul %s, %cc {dl.autocast = bf16} : tensor<4x2xf32>
  %g = dl.gelu %m {dl.autocast = bf16} : tensor<4x2xf32>
  return %g : tensor<4x2xf32>
}

// -----

// Casts and updates keep the types that were written, also of what was computed in 16 bits; a gradient is no reason to update in 16 bits.
// CHECK-LABEL: func.func @keeps
// CHECK-SAME: %[[W:.*]]: tensor<4x4xf32>
// CHECK: %[[H:.*]] = dl.dot_general {{.*}} -> tensor<4x4xbf16>
// CHECK: %[[WIDE:.*]] = dl.cast %[[H]] {dl.reason = "operand of dl.cast, policy keeps"} : tensor<4x4xbf16> to tensor<4x4xf32>
// CHECK: %[[D:.*]] = dl.cast %[[WIDE]] : tensor<4x4xf32> to tensor<4x4xf64>
// CHECK: %[[U:.*]] = dl.sgd %[[W]], %[[WIDE]] lr %{{.*}} weight_decay %{{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f64>, tensor<f64>) -> tensor<4x4xf32>
// CHECK-NOT: dl.cast
// CHECK: return %[[D]], %[[U]]
func.func @keeps(%w: tensor<4x4xf32>, %lr: tensor<f64>) -> (tensor<4x4xf64>, tensor<4x4xf32>) {
  %h = dl.dot_general %w, %w batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = dl.cast %h {dl.autocast = bf16} : tensor<4x4xf32> to tensor<4x4xf64>
  %u = dl.sgd %w, %h lr %lr weight_decay %lr {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f64>, tensor<f64>) -> tensor<4x4xf32>
  return %d, %u : tensor<4x4xf64>, tensor<4x4xf32>
}

// -----

// A weight is cast once, in front of moves, however often it is read.
dl.variable @w : tensor<4x4xf32> role(parameter) init(#dl.zeros)
// CHECK-LABEL: func.func @shared_weight
// CHECK: %[[W:.*]] = dl.read @w
// CHECK: %[[WL:.*]] = dl.cast %[[W]] {{.*}} to tensor<4x4xbf16>
// CHECK-NOT: dl.cast %[[W]]
// CHECK: %[[T:.*]] = dl.transpose %[[WL]] {{.*}} (tensor<4x4xbf16>)
// CHECK: %[[H:.*]] = dl.dot_general %{{.*}}, %[[T]]
// CHECK: dl.dot_general %[[H]], %[[WL]]
// CHECK-NOT: dl.cast %[[W]]
// CHECK: return
func.func @shared_weight(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dl.entry} {
  %w = dl.read @w : tensor<4x4xf32>
  %t = dl.transpose %w permutation [1, 0] {dl.autocast = bf16} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = dl.dot_general %x, %t batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %k = dl.dot_general %h, %w batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %k : tensor<4x4xf32>
}

// -----

// Pairs fold: what a widening cast widens is there already.
// CHECK-LABEL: func.func @folded
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xbf16>)
// CHECK: dl.dot_general %[[X]], %[[X]]
func.func @folded(%x: tensor<4x4xbf16>) -> tensor<4x4xf32> {
  %wide = dl.cast %x : tensor<4x4xbf16> to tensor<4x4xf32>
  %h = dl.dot_general %wide, %wide batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %h : tensor<4x4xf32>
}

// -----

// Without mark nothing changes, nor does f64, nor what was written in 16 bits.
// CHECK-LABEL: func.func @left_out
// CHECK-NOT: dl.cast
// CHECK: return
func.func @left_out(%x: tensor<4x4xf32>, %d: tensor<4x4xf64>, %l: tensor<4x4xf16>) -> (tensor<4x4xf32>, tensor<4x4xf64>, tensor<4x4xf16>) {
  %h = dl.dot_general %x, %x batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %k = dl.dot_general %d, %d batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  %s = dl.softmax %k axis 1 {dl.autocast = bf16} : tensor<4x4xf64>
  %g = dl.dot_general %l, %l batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %r = dl.relu %g {dl.autocast = bf16} : tensor<4x4xf16>
  return %h, %s, %r : tensor<4x4xf32>, tensor<4x4xf64>, tensor<4x4xf16>
}

// -----

// A full op on 16 bits written by hand works in f32; its readers see their type.
// CHECK-LABEL: func.func @full_by_hand
// CHECK: %[[WIDE:.*]] = dl.cast %{{.*}} to tensor<4x4xf32>
// CHECK: %[[S:.*]] = dl.softmax %[[WIDE]] axis 1 : tensor<4x4xf32>
// CHECK: %[[Y:.*]] = dl.cast %[[S]] {{.*}} to tensor<4x4xf16>
// CHECK: return %[[Y]]
func.func @full_by_hand(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
  %s = dl.softmax %x axis 1 {dl.autocast = bf16} : tensor<4x4xf16>
  return %s : tensor<4x4xf16>
}

// -----

// Scopes nest: bf16 around f16, and none inside of them.
// CHECK-LABEL: func.func @nested
// CHECK: %[[H:.*]] = dl.dot_general {{.*}} -> tensor<4x4xbf16>
// CHECK: %[[HALF:.*]] = dl.cast %[[H]] {{.*}} : tensor<4x4xbf16> to tensor<4x4xf16>
// CHECK: %[[K:.*]] = dl.dot_general %[[HALF]], %[[HALF]] {{.*}} -> tensor<4x4xf16>
// CHECK: %[[WIDE:.*]] = dl.cast %[[K]] {dl.reason = "dl.dot_general is outside of autocast"} : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK: %[[L:.*]] = dl.dot_general %[[WIDE]], %[[WIDE]] {{.*}} -> tensor<4x4xf32>
// CHECK: return %[[L]]
func.func @nested(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %h = dl.dot_general %x, %x batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %k = dl.dot_general %h, %h batch [] x [] contract [1] x [0] {dl.autocast = f16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %l = dl.dot_general %k, %k batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %l : tensor<4x4xf32>
}

// -----

// Compare, select and integers: only floats have a precision.
// CHECK-LABEL: func.func @select
// CHECK: %[[H:.*]] = dl.dot_general {{.*}} -> tensor<4x4xbf16>
// CHECK: %[[P:.*]] = dl.compare gt, %[[H]], %[[H]] : tensor<4x4xbf16>
// CHECK: dl.select %[[P]], %[[H]], %[[H]] : tensor<4x4xbf16>
// CHECK: dl.cast %{{.*}} to tensor<4x4xi64>
func.func @select(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xi64>) {
  %h = dl.dot_general %x, %x batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = dl.compare gt, %h, %h {dl.autocast = bf16} : tensor<4x4xf32>
  %s = dl.select %p, %h, %h {dl.autocast = bf16} : tensor<4x4xf32>
  %i = dl.cast %p {dl.autocast = bf16} : tensor<4x4xi1> to tensor<4x4xi64>
  return %s, %i : tensor<4x4xf32>, tensor<4x4xi64>
}

// -----

func.func @no_type(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects dl.autocast to be bf16 or f16, got f32}}
  %y = dl.neg %x {dl.autocast = f32} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A program in two parts: the second knows what the first has rounded.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32> {dl.exact = bf16}, %{{.*}}: tensor<4x4xf32>)
// CHECK-SAME: -> (tensor<4x4xf32> {dl.exact = bf16}, tensor<4x4xf32> {dl.exact = bf16}, tensor<4x4xf32>)
// CHECK: %[[XL:.*]] = dl.cast %[[X]] {{.*}} to tensor<4x4xbf16>
// CHECK: dl.gelu %[[XL]] : tensor<4x4xbf16>
// CHECK: dl.gelu %{{.*}} : tensor<4x4xf32>
func.func @parts(%x: tensor<4x4xf32> {dl.exact = bf16}, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %g = dl.gelu %x {dl.autocast = bf16} : tensor<4x4xf32>
  %f = dl.gelu %y {dl.autocast = bf16} : tensor<4x4xf32>
  return %x, %g, %f : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
