// RUN: dlc-opt %s -dl-fuse -split-input-file | FileCheck %s

// Bias and relu are applied before the product is stored.
// CHECK-LABEL: func.func @linear
// CHECK: dl.group kind(contract) [4, 2] ({{.*}}) -> tensor<4x2xf32>
// CHECK-NEXT: dl.dot_general
// CHECK: dl.broadcast
// CHECK: dl.add
// CHECK: dl.relu
// CHECK-NOT: dl.group
func.func @linear(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = dl.broadcast %b dims [1] : (tensor<2xf32>) -> tensor<4x2xf32>
  %2 = dl.add %0, %1 : tensor<4x2xf32>
  %3 = dl.relu %2 : tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}

// -----

// Each product takes one addition; the order follows from the operands.
// CHECK-LABEL: func.func @two_products
// CHECK: %[[P:.*]] = dl.group kind(contract)
// CHECK: dl.group kind(contract) [4, 4] ({{.*}}%{{.*}} = %[[P]] : tensor<4x4xf32>
// CHECK: dl.dot_general
// CHECK-NEXT: dl.add
// CHECK-NOT: dl.group
func.func @two_products(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = dl.dot_general %w, %x batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = dl.add %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

dl.variable @w : tensor<4x4xf32> role(parameter) init(#dl.zeros)
dl.variable @m : tensor<4x4xf32> role(optimizer_state) init(#dl.zeros)

// The update of a variable overwrites it lane by lane, which a product with its partial sums cannot; and the gradient is
// stored once, not the two values computed of it.
// CHECK-LABEL: func.func @update
// CHECK: %[[G:.*]] = dl.group kind(contract) [4, 4] ({{.*}}) -> tensor<4x4xf32>
// CHECK-NEXT: dl.dot_general
// CHECK-NEXT: dl.yield
// CHECK: dl.group kind(pointwise) [4, 4] ({{.*}}) -> (tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK-NOT: dl.group
func.func @update(%x: tensor<4x4xf32>) attributes {dl.entry} {
  %w = dl.read @w : tensor<4x4xf32>
  %m = dl.read @m : tensor<4x4xf32>
  %g = dl.dot_general %x, %x batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = dl.neg %g : tensor<4x4xf32>
  %w1 = dl.add %w, %n : tensor<4x4xf32>
  %q = dl.mul %g, %g : tensor<4x4xf32>
  %m1 = dl.add %m, %q : tensor<4x4xf32>
  dl.write @w, %w1 : tensor<4x4xf32>
  dl.write @m, %m1 : tensor<4x4xf32>
  return
}

// -----

// The reshape behind a window only renames its bytes.
// CHECK-LABEL: func.func @pool
// CHECK: dl.group kind(contract)
// CHECK-NEXT: dl.max_pool
// CHECK-NEXT: dl.yield
// CHECK: dl.group kind(pointwise) [2, 4]
// CHECK-NEXT: dl.reshape
// CHECK-NEXT: dl.yield
// CHECK: dl.group kind(pointwise) [2, 4]
// CHECK-NEXT: dl.relu
func.func @pool(%x: tensor<2x1x4x4xf32>) -> tensor<2x4xf32> {
  %0 = dl.max_pool %x kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0]
    : (tensor<2x1x4x4xf32>) -> tensor<2x1x2x2xf32>
  %1 = dl.reshape %0 : (tensor<2x1x2x2xf32>) -> tensor<2x4xf32>
  %2 = dl.relu %1 : tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// An operand of a product is a value in memory.
// CHECK-LABEL: func.func @operand
// CHECK: dl.group kind(pointwise) [4, 8]
// CHECK-NEXT: dl.broadcast
// CHECK: dl.group kind(contract)
func.func @operand(%x: tensor<8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = dl.broadcast %x dims [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %1 = dl.dot_general %0, %w batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
