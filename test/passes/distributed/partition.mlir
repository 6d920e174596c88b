// RUN: dlc-opt %s -split-input-file -dl-propagate-shardings -dl-place-reshards -dl-partition 2>/dev/null | FileCheck %s

// CHECK: module attributes {dl.local}
dl.mesh @mesh ["data" = 2]
// CHECK-NOT: dl.variable
// CHECK-LABEL: func.func @even(
// CHECK-SAME: %[[X:.*]]: tensor<4x4xf32> {dl.global = tensor<8x4xf32>, dl.sharding = #dl.sharding<[data, _]>}
// CHECK-SAME: -> (tensor<4x4xf32> {dl.global = tensor<8x4xf32>, dl.sharding = #dl.sharding<[data, _]>}, tensor<4xf32>)
func.func @even(%x: tensor<8x4xf32> {dl.sharding = #dl.sharding<[data, _]>}) -> (tensor<8x4xf32>, tensor<4xf32>) attributes {dl.entry} {
  // CHECK-NEXT: %[[E:.*]] = dl.exp %[[X]] : tensor<4x4xf32>
  %e = dl.exp %x : tensor<8x4xf32>
  // CHECK-NEXT: %[[S:.*]] = dl.reduce_sum %[[E]] over [0] : (tensor<4x4xf32>) -> tensor<4xf32>
  %s = dl.reduce_sum %e over [0] : (tensor<8x4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = dl.all_reduce sum(data) %[[S]] : tensor<4xf32>
  // CHECK-NEXT: return %[[E]], %[[R]]
  return %e, %s : tensor<8x4xf32>, tensor<4xf32>
}

// -----

// Rows beyond a member's own do not count.
dl.mesh @mesh ["data" = 4]
// CHECK: dl.variable @mesh.data : tensor<i64> role(coordinate) init(#dl.zeros)
// CHECK-LABEL: func.func @uneven(
// CHECK-DAG: %[[LOWEST:.*]] = dl.constant dense<0xFF800000> : tensor<2x4xf32>
// CHECK-DAG: %[[ZERO:.*]] = dl.constant dense<-0.000000e+00> : tensor<2x4xf32>
func.func @uneven(%x: tensor<6x4xf32> {dl.sharding = #dl.sharding<[data, _]>}) -> (tensor<4xf32>, tensor<4xf32>) attributes {dl.entry} {
  // CHECK: %[[C:.*]] = dl.read @mesh.data : tensor<i64>
  // CHECK: dl.compare lt
  // CHECK: %[[M:.*]] = dl.select %{{.*}}, %{{.*}}, %[[ZERO]] : tensor<2x4xf32>
  // CHECK: dl.reduce_sum %[[M]] over [0] : (tensor<2x4xf32>) -> tensor<4xf32>
  // CHECK: dl.all_reduce sum(data)
  %s = dl.reduce_sum %x over [0] : (tensor<6x4xf32>) -> tensor<4xf32>
  // CHECK: dl.select %{{.*}}, %{{.*}}, %[[LOWEST]] : tensor<2x4xf32>
  // CHECK: dl.all_reduce max(data)
  %m = dl.reduce_max %x over [0] : (tensor<6x4xf32>) -> tensor<4xf32>
  return %s, %m : tensor<4xf32>, tensor<4xf32>
}

// -----

dl.mesh @mesh ["data" = 2]
// CHECK-LABEL: func.func @moves(
func.func @moves(%x: tensor<4x4xf32> {dl.sharding = #dl.sharding<[data(0, 1, 4), _]>}, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x2xi64>) attributes {dl.entry} {
  // Parts of different size lie padded in what was gathered.
  // CHECK: %[[G:.*]] = dl.all_gather(data) %{{.*}} dim(0) : tensor<3x4xf32> -> tensor<6x4xf32>
  // CHECK: dl.slice %[[G]] starts [0, 0] limits [1, 4]
  // CHECK: dl.slice %[[G]] starts [3, 0] limits [6, 4]
  // CHECK: dl.concat
  // CHECK: dl.reverse
  %0 = dl.reverse %x axes [0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // A member's part of what all hold.
  // CHECK: dl.gather %{{.*}}, %{{.*}} axis 1 : (tensor<4x4xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  %1 = dl.reshard %w to <[_, data]> : tensor<4x4xf32>
  %2 = dl.exp %1 : tensor<4x4xf32>
  // An index counts in the whole.
  // CHECK: dl.iota axis 0 : tensor<2x2xi64>
  // CHECK: dl.add
  %3 = dl.iota axis 0 : tensor<4x2xi64>
  %4 = dl.reshard %3 to <[data, _]> : tensor<4x2xi64>
  return %0, %2, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x2xi64>
}
