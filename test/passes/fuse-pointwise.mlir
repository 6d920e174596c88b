// RUN: dlc-opt %s -dl-fuse -split-input-file -verify-diagnostics | FileCheck %s

// A chain with two stored values is one group.
// CHECK-LABEL: func.func @chain
// CHECK: %[[G:.*]]:2 = dl.group kind(pointwise) [4, 8] (%[[X:.*]] = %{{.*}} : tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT: %[[A:.*]] = dl.mul %[[X]], %[[X]]
// CHECK-NEXT: %[[B:.*]] = dl.neg %[[A]]
// CHECK-NEXT: %[[C:.*]] = dl.add %[[B]], %[[X]]
// CHECK-NEXT: dl.yield %[[A]], %[[C]]
// CHECK: return %[[G]]#0, %[[G]]#1
func.func @chain(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = dl.mul %x, %x : tensor<4x8xf32>
  %b = dl.neg %a : tensor<4x8xf32>
  %c = dl.add %b, %x : tensor<4x8xf32>
  return %a, %c : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A broadcast belongs to whoever reads it: two kernels, none of which stores 4x8 copies of %s.
// CHECK-LABEL: func.func @broadcast
// CHECK-NOT: dl.group
// CHECK: dl.group kind(pointwise) [4, 8] (%{{.*}} = %{{.*}} : tensor<8xf32>, %{{.*}} = %{{.*}} : tensor<4x8xf32>)
// CHECK-NEXT: dl.broadcast
// CHECK: dl.group kind(row) [4, 8] (%{{.*}} = %{{.*}} : tensor<8xf32>, %{{.*}} = %{{.*}} : tensor<4x8xf32>)
// CHECK-NEXT: dl.broadcast
// CHECK-NOT: dl.group
func.func @broadcast(%s: tensor<8xf32>, %x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %0 = dl.broadcast %s dims [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %1 = dl.mul %0, %x : tensor<4x8xf32>
  %2 = dl.add %0, %z : tensor<4x8xf32>
  %3 = dl.reduce_sum %2 over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  return %1, %3 : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// A label's one-hot code is computed where it is used, never stored; a constant as well.
// CHECK-LABEL: func.func @one_hot
// CHECK: dl.group kind(pointwise) [4, 8]
// CHECK-SAME: tensor<4xi64>, %{{.*}} = %{{.*}} : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: dl.iota
// CHECK: dl.compare
// CHECK: dl.constant
// CHECK: dl.select
// CHECK-NOT: dl.group
func.func @one_hot(%labels: tensor<4xi64>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = dl.iota axis 1 : tensor<4x8xi64>
  %1 = dl.broadcast %labels dims [0] : (tensor<4xi64>) -> tensor<4x8xi64>
  %2 = dl.compare eq, %0, %1 : tensor<4x8xi64>
  %3 = dl.constant dense<0.0> : tensor<4x8xf32>
  %4 = dl.select %2, %x, %3 : tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// Merging %a and %c would put %b, which lies between them in another shape, on both sides of one kernel.
// CHECK-LABEL: func.func @cycle
// CHECK: dl.group kind(row) [4, 8]
// CHECK: dl.group kind(pointwise) [4, 1]
// CHECK: dl.group kind(pointwise) [4, 8]
func.func @cycle(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = dl.neg %x : tensor<4x8xf32>
  %r = dl.reduce_sum %a over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %s = dl.reshape %r : (tensor<4xf32>) -> tensor<4x1xf32>
  %b = dl.exp %s : tensor<4x1xf32>
  %t = dl.broadcast %b dims [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %c = dl.mul %a, %t : tensor<4x8xf32>
  return %a, %c : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Sixteen operands and results are the most a kernel has.
// CHECK-LABEL: func.func @many
// CHECK: dl.group kind(pointwise)
// CHECK: dl.group kind(pointwise)
// CHECK-NOT: dl.group
func.func @many(%0: tensor<8xf32>, %1: tensor<8xf32>, %2: tensor<8xf32>, %3: tensor<8xf32>, %4: tensor<8xf32>,
                %5: tensor<8xf32>, %6: tensor<8xf32>, %7: tensor<8xf32>, %8: tensor<8xf32>, %9: tensor<8xf32>,
                %10: tensor<8xf32>, %11: tensor<8xf32>, %12: tensor<8xf32>, %13: tensor<8xf32>, %14: tensor<8xf32>,
                %15: tensor<8xf32>) -> tensor<8xf32> {
  %a1 = dl.add %0, %1 : tensor<8xf32>
  %a2 = dl.add %a1, %2 : tensor<8xf32>
  %a3 = dl.add %a2, %3 : tensor<8xf32>
  %a4 = dl.add %a3, %4 : tensor<8xf32>
  %a5 = dl.add %a4, %5 : tensor<8xf32>
  %a6 = dl.add %a5, %6 : tensor<8xf32>
  %a7 = dl.add %a6, %7 : tensor<8xf32>
  %a8 = dl.add %a7, %8 : tensor<8xf32>
  %a9 = dl.add %a8, %9 : tensor<8xf32>
  %a10 = dl.add %a9, %10 : tensor<8xf32>
  %a11 = dl.add %a10, %11 : tensor<8xf32>
  %a12 = dl.add %a11, %12 : tensor<8xf32>
  %a13 = dl.add %a12, %13 : tensor<8xf32>
  %a14 = dl.add %a13, %14 : tensor<8xf32>
  %a15 = dl.add %a14, %15 : tensor<8xf32>
  return %a15 : tensor<8xf32>
}

// -----

// A constant that is no splat lies in memory.
// CHECK-LABEL: func.func @constant
// CHECK: %[[C:.*]] = dl.constant
// CHECK: dl.group kind(pointwise) [2] (%{{.*}} = %{{.*}} : tensor<2xf32>, %{{.*}} = %[[C]] : tensor<2xf32>)
func.func @constant(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = dl.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = dl.add %x, %c : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects a scalar body, an index map, a reduction or a kernel of its own, got none; run dl-autodiff and dl-decompose first}}
  %y = dl.stop_gradient %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Two readers in different kernels compute the difference again: reading %x is as cheap as reading it.
// CHECK-LABEL: func.func @again
// CHECK: dl.group kind(row) [4, 8] (%{{.*}} = %{{.*}} : tensor<4x8xf32>, %{{.*}} = %{{.*}} : tensor<8xf32>) -> tensor<4xf32>
// CHECK: dl.sub
// CHECK: dl.group kind(column) [4, 8] (%{{.*}} = %{{.*}} : tensor<4x8xf32>, %{{.*}} = %{{.*}} : tensor<8xf32>) -> tensor<8xf32>
// CHECK: dl.sub
func.func @again(%x: tensor<4x8xf32>, %m: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %mb = dl.broadcast %m dims [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %d = dl.sub %x, %mb : tensor<4x8xf32>
  %r = dl.reduce_sum %d over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %c = dl.reduce_max %d over [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  return %r, %c : tensor<4xf32>, tensor<8xf32>
}
