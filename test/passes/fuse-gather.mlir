// RUN: dlc-opt %s -dl-fuse -split-input-file | FileCheck %s

// Rows of a table, added positions and a sum of each row are one kernel; the table stays in memory.
// CHECK-LABEL: func.func @embedding
// CHECK: dl.group kind(row) [2, 4, 8]
// CHECK-NEXT: dl.gather
// CHECK: dl.add
// CHECK: dl.reduce_sum
// CHECK-NOT: dl.group
func.func @embedding(%table: tensor<16x8xf32>, %positions: tensor<4x8xf32>, %i: tensor<2x4xi64>) -> tensor<2x4xf32> {
  %0 = dl.gather %table, %i axis 0 : (tensor<16x8xf32>, tensor<2x4xi64>) -> tensor<2x4x8xf32>
  %1 = dl.broadcast %positions dims [1, 2] : (tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %2 = dl.add %0, %1 : tensor<2x4x8xf32>
  %3 = dl.reduce_sum %2 over [2] : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// -----

// What is gathered from is stored first where its elements would be computed more than once.
// CHECK-LABEL: func.func @computed_table
// CHECK: %[[E:.*]] = dl.group kind(pointwise) [16]
// CHECK-NEXT: dl.exp
// CHECK: dl.group kind(pointwise) [64] ({{.*}}%{{.*}} = %[[E]] : tensor<16xf32>
// CHECK-NEXT: dl.gather
// CHECK-NEXT: dl.neg
// CHECK-NOT: dl.group
func.func @computed_table(%x: tensor<16xf32>, %i: tensor<64xi64>) -> tensor<64xf32> {
  %0 = dl.exp %x : tensor<16xf32>
  %1 = dl.gather %0, %i axis 0 : (tensor<16xf32>, tensor<64xi64>) -> tensor<64xf32>
  %2 = dl.neg %1 : tensor<64xf32>
  return %2 : tensor<64xf32>
}

// -----

// CHECK-LABEL: func.func @few_places
// CHECK: dl.group kind(pointwise) [8, 4]
// CHECK-NEXT: dl.transpose
// CHECK-NEXT: dl.gather
// CHECK-NEXT: dl.neg
// CHECK-NOT: dl.group
func.func @few_places(%x: tensor<16x8xf32>, %i: tensor<8x4xi64>) -> tensor<8x4xf32> {
  %0 = dl.transpose %x permutation [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
  %1 = dl.gather %0, %i axis 1 batch_dims 1 : (tensor<8x16xf32>, tensor<8x4xi64>) -> tensor<8x4xf32>
  %2 = dl.neg %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Zeros to scatter into are written by the kernel itself; updates are stored first.
// CHECK-LABEL: func.func @scatter_into_zeros
// CHECK: %[[U:.*]] = dl.group kind(pointwise) [4, 8]
// CHECK: dl.group kind(window) [16, 8] (%{{.*}} = %{{.*}} : tensor<4xi64>, %{{.*}} = %[[U]] : tensor<4x8xf32>)
// CHECK-NEXT: dl.constant dense<0.000000e+00>
// CHECK-NEXT: dl.scatter
// CHECK-NEXT: dl.yield
// CHECK-NOT: dl.group
func.func @scatter_into_zeros(%u: tensor<4x8xf32>, %i: tensor<4xi64>) -> tensor<16x8xf32> {
  %0 = dl.neg %u : tensor<4x8xf32>
  %1 = dl.constant dense<0.0> : tensor<16x8xf32>
  %2 = dl.scatter %1, %i, %0 axis 0 kind(add) : (tensor<16x8xf32>, tensor<4xi64>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return %2 : tensor<16x8xf32>
}
