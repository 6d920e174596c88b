// RUN: dlc-opt %s -dl-fuse -split-input-file | FileCheck %s

// Two reductions of one row, the second of what the first gave, and a value of the row's shape: one kernel.
// CHECK-LABEL: func.func @softmax
// CHECK: dl.group kind(row) [4, 8] (%{{.*}} = %{{.*}} : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NOT: dl.group
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = dl.reduce_max %x over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %mb = dl.broadcast %m dims [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %s = dl.sub %x, %mb : tensor<4x8xf32>
  %e = dl.exp %s : tensor<4x8xf32>
  %t = dl.reduce_sum %e over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %tb = dl.broadcast %t dims [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = dl.div %e, %tb : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The sum of row i is wanted in column i: other rows would have to be known.
// CHECK-LABEL: func.func @other_row
// CHECK: dl.group kind(row) [8, 8]
// CHECK: dl.group kind(pointwise) [8, 8]
func.func @other_row(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %m = dl.reduce_sum %x over [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  %mb = dl.broadcast %m dims [1] : (tensor<8xf32>) -> tensor<8x8xf32>
  %s = dl.sub %x, %mb : tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

// -----

// Two column sums of one sweep with their epilogue. The producer is stored for another reader, so it is a kernel of its own.
// CHECK-LABEL: func.func @columns
// CHECK: %[[P:.*]] = dl.group kind(pointwise) [4, 8]
// CHECK: dl.group kind(column) [4, 8] (%{{.*}} = %[[P]] : tensor<4x8xf32>) -> tensor<8xf32>
// CHECK: dl.reduce_sum
// CHECK: dl.mul
// CHECK: dl.reduce_sum
// CHECK: dl.add
// CHECK-NOT: dl.group
func.func @columns(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  %p = dl.exp %x : tensor<4x8xf32>
  %s = dl.reduce_sum %p over [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  %q = dl.mul %p, %p : tensor<4x8xf32>
  %t = dl.reduce_sum %q over [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  %u = dl.add %s, %t : tensor<8xf32>
  return %p, %u : tensor<4x8xf32>, tensor<8xf32>
}

// -----

// The second sum needs the first: two sweeps, two kernels.
// CHECK-LABEL: func.func @two_sweeps
// CHECK: dl.group kind(column) [4, 8]
// CHECK: dl.group kind(column) [4, 8]
// CHECK-NOT: dl.group
func.func @two_sweeps(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %s = dl.reduce_sum %x over [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  %sb = dl.broadcast %s dims [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %d = dl.sub %x, %sb : tensor<4x8xf32>
  %t = dl.reduce_sum %d over [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  return %t : tensor<8xf32>
}

// -----

// Mean of the last two dimensions, a full sum, and a scalar afterwards.
// CHECK-LABEL: func.func @full
// CHECK: dl.group kind(row) [2, 4, 8] ({{.*}}) -> tensor<2xf32>
// CHECK: dl.group kind(row) [2] ({{.*}}) -> tensor<f32>
// CHECK: dl.reduce_sum
// CHECK: dl.neg
func.func @full(%x: tensor<2x4x8xf32>) -> tensor<f32> {
  %s = dl.reduce_sum %x over [1, 2] : (tensor<2x4x8xf32>) -> tensor<2xf32>
  %t = dl.reduce_sum %s over [0] : (tensor<2xf32>) -> tensor<f32>
  %u = dl.neg %t : tensor<f32>
  return %u : tensor<f32>
}
