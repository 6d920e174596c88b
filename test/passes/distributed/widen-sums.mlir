// RUN: dlc-opt %s -split-input-file -dl-propagate-shardings -dl-widen-sums -dl-place-reshards -dl-partition | FileCheck %s

// A weight's gradient in 16 bits: members add f32, and round what they have added.
// CHECK-LABEL: func.func @gradient(
// CHECK-SAME: %[[D:.*]]: tensor<4x2xf16> {{.*}}, %[[X:.*]]: tensor<4x3xf16>
// CHECK: %[[DW:.*]] = dl.cast %[[D]] : tensor<4x2xf16> to tensor<4x2xf32>
// CHECK: %[[XW:.*]] = dl.cast %[[X]] : tensor<4x3xf16> to tensor<4x3xf32>
// CHECK: %[[P:.*]] = dl.dot_general %[[DW]], %[[XW]] {{.*}} leaves(4) {{.*}} -> tensor<2x3xf32>
// CHECK: %[[S:.*]] = dl.all_reduce sum(data) %[[P]] : tensor<2x3xf32>
// CHECK: %[[G:.*]] = dl.cast %[[S]] : tensor<2x3xf32> to tensor<2x3xf16>
// CHECK: dl.cast %[[G]] : tensor<2x3xf16> to tensor<2x3xf32>
module {
  dl.mesh @mesh ["data" = 2 of 8]
  func.func @gradient(%d: tensor<8x2xf16> {dl.sharding = #dl.sharding<[data, _]>}, %x: tensor<8x3xf16> {dl.sharding = #dl.sharding<[data, _]>})
      -> tensor<2x3xf32> attributes {dl.entry} {
    %g = dl.dot_general %d, %x batch [] x [] contract [0] x [0] : (tensor<8x2xf16>, tensor<8x3xf16>) -> tensor<2x3xf16>
    %w = dl.cast %g : tensor<2x3xf16> to tensor<2x3xf32>
    return %w : tensor<2x3xf32>
  }
}

// -----

// As on one member.
// CHECK-LABEL: func.func @one(
// CHECK: dl.reduce_sum {{.*}} : (tensor<8x1x3xf32>) -> tensor<8x3xf32>
// CHECK: dl.cast {{.*}} : tensor<3xf32> to tensor<3xbf16>
module {
  dl.mesh @mesh ["data" = 1 of 8]
  func.func @one(%x: tensor<8x3xbf16> {dl.sharding = #dl.sharding<[data, _]>}) -> tensor<3xbf16> attributes {dl.entry} {
    %s = dl.reduce_sum %x over [0] : (tensor<8x3xbf16>) -> tensor<3xbf16>
    return %s : tensor<3xbf16>
  }
}

// -----

// Left alone: what is no sum, what members do not share, f32.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: dl.cast
// CHECK: return
module {
  dl.mesh @mesh ["data" = 2 of 8]
  func.func @others(%x: tensor<8x3xf16> {dl.sharding = #dl.sharding<[data, _]>}, %y: tensor<8x3xf32> {dl.sharding = #dl.sharding<[data, _]>})
      -> (tensor<3xf16>, tensor<8xf16>, tensor<3xf32>) attributes {dl.entry} {
    %m = dl.reduce_max %x over [0] : (tensor<8x3xf16>) -> tensor<3xf16>
    %r = dl.reduce_sum %x over [1] : (tensor<8x3xf16>) -> tensor<8xf16>
    %s = dl.reduce_sum %y over [0] : (tensor<8x3xf32>) -> tensor<3xf32>
    return %m, %r, %s : tensor<3xf16>, tensor<8xf16>, tensor<3xf32>
  }
}

// -----

// Without leaves parts are rounded by each member, as their bytes travel.
// CHECK-LABEL: func.func @unordered(
// CHECK-NOT: dl.cast
// CHECK: dl.all_reduce sum(data) %{{.*}} : tensor<3xf16>
module {
  dl.mesh @mesh ["data" = 2]
  func.func @unordered(%x: tensor<8x3xf16> {dl.sharding = #dl.sharding<[data, _]>}) -> tensor<3xf16> attributes {dl.entry} {
    %s = dl.reduce_sum %x over [0] : (tensor<8x3xf16>) -> tensor<3xf16>
    return %s : tensor<3xf16>
  }
}
