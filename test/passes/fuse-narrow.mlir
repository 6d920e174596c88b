// RUN: dlc-opt %s -dl-fuse | FileCheck %s

// Each op is of f32 between casts, and rounds; inputs and results keep their type.
// CHECK-LABEL: func.func @chain
// CHECK: dl.group kind(pointwise) [8] ({{.*}}%[[A:.*]] = %arg0 : tensor<8xbf16>) -> tensor<8xbf16>
// CHECK-NEXT: %[[X:.*]] = dl.cast %[[A]] : tensor<8xbf16> to tensor<8xf32>
// CHECK-NEXT: %[[SUM:.*]] = dl.add %[[X]], %[[X]] : tensor<8xf32>
// CHECK-NEXT: %[[ROUNDED:.*]] = dl.cast %[[SUM]] : tensor<8xf32> to tensor<8xbf16>
// CHECK-NEXT: %[[AGAIN:.*]] = dl.cast %[[ROUNDED]] : tensor<8xbf16> to tensor<8xf32>
// CHECK-NEXT: %[[PRODUCT:.*]] = dl.mul %[[AGAIN]], %[[X]] : tensor<8xf32>
// CHECK-NEXT: %[[Y:.*]] = dl.cast %[[PRODUCT]] : tensor<8xf32> to tensor<8xbf16>
// CHECK-NEXT: dl.yield %[[Y]]
func.func @chain(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  %0 = dl.add %x, %x : tensor<8xbf16>
  %y = dl.mul %0, %x : tensor<8xbf16>
  return %y : tensor<8xbf16>
}

// Moves of elements are no arithmetic.
// CHECK-LABEL: func.func @reversed
// CHECK-NOT: dl.cast
// CHECK: return
func.func @reversed(%x: tensor<8xf16>) -> tensor<8xf16> {
  %y = dl.reverse %x axes [0] : (tensor<8xf16>) -> tensor<8xf16>
  return %y : tensor<8xf16>
}

// A sum is of f32 and rounds once.
// CHECK-LABEL: func.func @sum
// CHECK: %[[WIDE:.*]] = dl.cast %{{.*}} : tensor<4x8xf16> to tensor<4x8xf32>
// CHECK: %[[S:.*]] = dl.reduce_sum %[[WIDE]] over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK: dl.cast %[[S]] : tensor<4xf32> to tensor<4xf16>
func.func @sum(%x: tensor<4x8xf16>) -> tensor<4xf16> {
  %y = dl.reduce_sum %x over [1] : (tensor<4x8xf16>) -> tensor<4xf16>
  return %y : tensor<4xf16>
}

// CHECK-LABEL: func.func @product
// CHECK: kind(contract) [4, 4] (%[[L:.*]] = %arg0 : tensor<4x8xbf16>, %[[R:.*]] = %arg1 : tensor<8x4xbf16>) -> tensor<4x4xbf16>
// CHECK: dl.dot_general {{.*}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
func.func @product(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<4x4xbf16> {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
  return %y : tensor<4x4xbf16>
}
