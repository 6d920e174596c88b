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

// A product of f32 reads what was cast to f32 as it was.
// CHECK-LABEL: func.func @product_of_casts
// CHECK-NOT: dl.cast
// CHECK: kind(contract) [4, 4] (%[[L:.*]] = %arg0 : tensor<4x8xbf16>, %[[R:.*]] = %arg1 : tensor<8x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[WIDE:.*]] = dl.cast %[[L]] : tensor<4x8xbf16> to tensor<4x8xf32>
// CHECK-NEXT: dl.dot_general %[[WIDE]], %[[R]] batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
func.func @product_of_casts(%a: tensor<4x8xbf16>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = dl.cast %a : tensor<4x8xbf16> to tensor<4x8xf32>
  %y = dl.dot_general %0, %b batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// What was 16 bits once is told apart from what is of f32: kernels may use other instructions for it.
// CHECK-LABEL: func.func @two_products
// CHECK: dl.dot_general {{.*}} {dl.widened} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
// CHECK-NOT: dl.widened
// CHECK: dl.dot_general
func.func @two_products(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>) -> (tensor<4x4xbf16>, tensor<4x4xf32>) {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
  %0 = dl.cast %a : tensor<4x8xbf16> to tensor<4x8xf32>
  %1 = dl.cast %b : tensor<8x4xbf16> to tensor<8x4xf32>
  %z = dl.dot_general %0, %1 batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %y, %z : tensor<4x4xbf16>, tensor<4x4xf32>
}

// A value is stored in 16 bits where its reader alone wants f32.
// CHECK-LABEL: func.func @stored_narrow
// CHECK: kind(contract) [4, 8] {{.*}} -> tensor<4x8xbf16>
// CHECK: kind(column) [4, 8] (%[[X:.*]] = %{{.*}} : tensor<4x8xbf16>) -> tensor<8xf32>
// CHECK-NEXT: %[[WIDE:.*]] = dl.cast %[[X]] : tensor<4x8xbf16> to tensor<4x8xf32>
// CHECK-NEXT: dl.reduce_sum %[[WIDE]] over [0] : (tensor<4x8xf32>) -> tensor<8xf32>
func.func @stored_narrow(%a: tensor<4x4xbf16>, %b: tensor<4x8xbf16>) -> (tensor<4x8xbf16>, tensor<8xf32>) {
  %x = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<4x4xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %wide = dl.cast %x : tensor<4x8xbf16> to tensor<4x8xf32>
  %y = dl.reduce_sum %wide over [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  return %x, %y : tensor<4x8xbf16>, tensor<8xf32>
}

// What has to be in memory as f32 anyway is read there.
// CHECK-LABEL: func.func @stored_wide
// CHECK: %[[WIDE:.*]] = dl.group kind(pointwise) [4, 8] {{.*}} -> tensor<4x8xf32>
// CHECK: dl.group kind(contract) [4, 4] ({{.*}} = %[[WIDE]] : tensor<4x8xf32>, {{.*}}) -> tensor<4x4xf32>
func.func @stored_wide(%a: tensor<4x8xbf16>, %b: tensor<8x4xf32>) -> (tensor<4x8xf32>, tensor<4x4xf32>) {
  %wide = dl.cast %a : tensor<4x8xbf16> to tensor<4x8xf32>
  %y = dl.dot_general %wide, %b batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %wide, %y : tensor<4x8xf32>, tensor<4x4xf32>
}

// A kernel that stores 16 bits makes no wider values of them: their reader does.
// CHECK-LABEL: func.func @reader_widens
// CHECK: kind(contract) [4, 8] {{.*}} -> tensor<4x8xbf16>
// CHECK: kind(row) [4, 8] ({{.*}} : tensor<4x8xbf16>, {{.*}} : tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT: dl.cast
// CHECK-NEXT: dl.mul
// CHECK-NEXT: dl.reduce_sum
func.func @reader_widens(%a: tensor<4x4xbf16>, %b: tensor<4x8xbf16>, %c: tensor<4x8xf32>) -> (tensor<4x8xbf16>, tensor<4xf32>) {
  %x = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<4x4xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %wide = dl.cast %x : tensor<4x8xbf16> to tensor<4x8xf32>
  %p = dl.mul %wide, %c : tensor<4x8xf32>
  %y = dl.reduce_sum %p over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  return %x, %y : tensor<4x8xbf16>, tensor<4xf32>
}
