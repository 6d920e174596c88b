// RUN: dlc-opt %s -dl-propagate-shardings -dl-place-reshards 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.err

dl.mesh @mesh ["data" = 2]

// A gradient that is transposed and added up is reduced behind that, once for all that read it.
// CHECK-LABEL: func.func @last_linear(
func.func @last_linear(%x: tensor<8x4xf32> {dl.sharding = #dl.sharding<[data, _]>}, %d: tensor<8x3xf32> {dl.sharding = #dl.sharding<[data, _]>})
    -> (tensor<3x4xf32>, tensor<3x4xf32>) attributes {dl.entry} {
  // CHECK: %[[A:.*]] = dl.dot_general
  %a = dl.dot_general %x, %d batch [] x [] contract [0] x [0] : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: %[[T:.*]] = dl.transpose
  %t = dl.transpose %a permutation [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: %[[B:.*]] = dl.dot_general
  %b = dl.dot_general %d, %x batch [] x [] contract [0] x [0] : (tensor<8x3xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: %[[S:.*]] = dl.add %[[T]], %[[B]]
  %s = dl.add %t, %b : tensor<3x4xf32>
  // CHECK-NEXT: %[[R:.*]] = dl.reshard %[[S]] to <[_, _]>
  // CHECK-NEXT: dl.mul %[[R]], %[[R]]
  %u = dl.mul %s, %s : tensor<3x4xf32>
  // CHECK-NEXT: dl.exp %[[R]]
  %v = dl.exp %s : tensor<3x4xf32>
  // CHECK-NOT: dl.reshard
  return %u, %v : tensor<3x4xf32>, tensor<3x4xf32>
}

// A value that is read in part and resolved is resolved once; what is read by nobody is not.
// CHECK-LABEL: func.func @both(
func.func @both(%x: tensor<8x4xf32> {dl.sharding = #dl.sharding<[data, _]>}) -> (tensor<4xf32>, tensor<4xf32>) attributes {dl.entry} {
  // CHECK: %[[S:.*]] = dl.reduce_sum
  %s = dl.reduce_sum %x over [0] : (tensor<8x4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = dl.reshard %[[S]] to <[_]>
  // CHECK-NEXT: dl.add %[[R]], %[[R]]
  %t = dl.add %s, %s : tensor<4xf32>
  // CHECK-NEXT: dl.exp %[[R]]
  %e = dl.exp %s : tensor<4xf32>
  // CHECK-NEXT: dl.reduce_max
  %unread = dl.reduce_max %x over [0] : (tensor<8x4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: return
  return %t, %e : tensor<4xf32>, tensor<4xf32>
}

// A sum of a partial value and another is made of the whole one.
// CHECK-LABEL: func.func @mixed(
func.func @mixed(%x: tensor<8x4xf32> {dl.sharding = #dl.sharding<[data, _]>}, %w: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  // CHECK: %[[S:.*]] = dl.reduce_sum
  %s = dl.reduce_sum %x over [0] : (tensor<8x4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = dl.reshard %[[S]] to <[_]>
  // CHECK-NEXT: dl.add %[[R]], %{{.*}} : tensor<4xf32>
  %t = dl.add %s, %w : tensor<4xf32>
  return %t : tensor<4xf32>
}

// A largest value commutes with moves, not with sums; narrowing commutes with nothing.
// CHECK-LABEL: func.func @kinds(
func.func @kinds(%x: tensor<8x4xf64> {dl.sharding = #dl.sharding<[data, _]>}) -> (tensor<2x2xf64>, tensor<4xf32>) attributes {dl.entry} {
  // CHECK: %[[M:.*]] = dl.reduce_max
  %m = dl.reduce_max %x over [0] : (tensor<8x4xf64>) -> tensor<4xf64>
  // CHECK-NEXT: %[[V:.*]] = dl.reshape %[[M]] {{.*}}partial = max(data)
  %v = dl.reshape %m : (tensor<4xf64>) -> tensor<2x2xf64>
  // CHECK-NEXT: %[[R:.*]] = dl.reshard %[[V]]
  // CHECK-NEXT: dl.add %[[R]], %[[R]]
  %a = dl.add %v, %v : tensor<2x2xf64>
  // CHECK: %[[S:.*]] = dl.reduce_sum
  %s = dl.reduce_sum %x over [0] : (tensor<8x4xf64>) -> tensor<4xf64>
  // CHECK-NEXT: %[[Q:.*]] = dl.reshard %[[S]]
  // CHECK-NEXT: dl.cast %[[Q]]
  %c = dl.cast %s : tensor<4xf64> to tensor<4xf32>
  return %a, %c : tensor<2x2xf64>, tensor<4xf32>
}

// What needs all rows gets them, and says so.
// CHECK-LABEL: func.func @gathers(
func.func @gathers(%x: tensor<8x4xf32> {dl.sharding = #dl.sharding<[data, _]>}) -> tensor<8x4xf32> attributes {dl.entry} {
  // CHECK: %[[R:.*]] = dl.reshard %{{.*}} to <[_, _]>
  // CHECK-NEXT: dl.reverse %[[R]]
  // REMARK: place-reshards.mlir:[[# @LINE + 1]]:{{.*}}remark: 'dl.reverse' needs all of operand 0, which is held as #dl.sharding<[data, _]>; it is gathered
  %0 = dl.reverse %x axes [0] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
