// RUN: dlc-opt %s -dl-fuse -split-input-file | FileCheck %s

// An op before a slice is computed only where it is needed.
// CHECK-LABEL: func.func @slice
// CHECK: dl.group kind(pointwise) [2] (%{{.*}} = %{{.*}} : tensor<8xf32>) -> tensor<2xf32>
// CHECK: dl.exp
// CHECK: dl.slice
// CHECK: dl.neg
// CHECK-NOT: dl.group
func.func @slice(%x: tensor<8xf32>) -> tensor<2xf32> {
  %0 = dl.exp %x : tensor<8xf32>
  %1 = dl.slice %0 starts [1] limits [3] strides [1] : (tensor<8xf32>) -> tensor<2xf32>
  %2 = dl.neg %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// Stored for another reader as well, it is not computed again.
// CHECK-LABEL: func.func @stored
// CHECK: %[[E:.*]] = dl.group kind(pointwise) [8]
// CHECK: dl.group kind(pointwise) [8] (%{{.*}} = %[[E]] : tensor<8xf32>)
// CHECK: dl.reverse
func.func @stored(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = dl.exp %x : tensor<8xf32>
  %1 = dl.reverse %0 axes [0] : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// A row's result at another row: the reversal waits for the whole softmax-like group.
// CHECK-LABEL: func.func @after_row
// CHECK: dl.group kind(row) [4, 8]
// CHECK: dl.group kind(pointwise) [4, 8]
// CHECK: dl.neg
// CHECK: dl.reverse
// CHECK-NOT: dl.group
func.func @after_row(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = dl.reduce_sum %x over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %sb = dl.broadcast %s dims [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = dl.div %x, %sb : tensor<4x8xf32>
  %n = dl.neg %d : tensor<4x8xf32>
  %r = dl.reverse %n axes [0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// A large transpose is a kernel of its own; a small one is an index map of its reader.
// CHECK-LABEL: func.func @transpose
// CHECK: dl.group kind(pointwise) [256, 256]
// CHECK-NEXT: dl.transpose
// CHECK-NEXT: dl.yield
// CHECK: dl.group kind(pointwise) [256, 256]
// CHECK-NEXT: dl.neg
// CHECK: dl.group kind(pointwise) [8, 4]
// CHECK-NEXT: dl.transpose
// CHECK-NEXT: dl.neg
func.func @transpose(%x: tensor<256x256xf32>, %y: tensor<4x8xf32>) -> (tensor<256x256xf32>, tensor<8x4xf32>) {
  %0 = dl.transpose %x permutation [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = dl.neg %0 : tensor<256x256xf32>
  %2 = dl.transpose %y permutation [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %3 = dl.neg %2 : tensor<8x4xf32>
  return %1, %3 : tensor<256x256xf32>, tensor<8x4xf32>
}

// -----

// Padding of a computed value: outside the bounds nothing is read.
// CHECK-LABEL: func.func @pad
// CHECK: dl.group kind(pointwise) [6]
func.func @pad(%x: tensor<4xf32>) -> tensor<6xf32> {
  %z = dl.constant dense<0.0> : tensor<f32>
  %0 = dl.pad %x, %z lo [1] hi [1] interior [0] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = dl.neg %0 : tensor<6xf32>
  return %1 : tensor<6xf32>
}
