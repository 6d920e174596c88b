// RUN: dlc-opt %s -split-input-file -dl-propagate-shardings -dl-place-reshards -dl-partition | FileCheck %s

// The sum over the batch of a member: its leaves, neighbours first; then the members'.
// CHECK: dl.mesh @mesh ["data" = 2 of 8]
// CHECK-LABEL: func.func @sum(%arg0: tensor<4x3xf32>
module {
  dl.mesh @mesh ["data" = 2 of 8]
  func.func @sum(%x: tensor<8x3xf32> {dl.sharding = #dl.sharding<[data, _]>}) -> tensor<3xf32> attributes {dl.entry} {
    // CHECK: %[[CUT:.*]] = dl.reshape %arg0 : (tensor<4x3xf32>) -> tensor<4x1x3xf32>
    // CHECK: %[[LEAVES:.*]] = dl.reduce_sum %[[CUT]] over [1] : (tensor<4x1x3xf32>) -> tensor<4x3xf32>
    // CHECK-DAG: %[[EVEN:.*]] = dl.slice %[[LEAVES]] starts [0, 0] limits [4, 3] strides [2, 1]
    // CHECK-DAG: %[[ODD:.*]] = dl.slice %[[LEAVES]] starts [1, 0] limits [4, 3] strides [2, 1]
    // CHECK: dl.add %[[EVEN]], %[[ODD]] : tensor<2x3xf32>
    // CHECK: dl.add {{.*}} : tensor<1x3xf32>
    // CHECK: dl.all_reduce {{ ?}}sum(data)
    %s = dl.reduce_sum %x over [0] : (tensor<8x3xf32>) -> tensor<3xf32>
    return %s : tensor<3xf32>
  }
}

// -----

// One member has all leaves: the same order without an exchange between members.
// CHECK-LABEL: func.func @product(%arg0: tensor<8x4xf32>
// CHECK: dl.dot_general %arg0, %arg1 batch [] x [] contract [0] x [0] leaves(8)
module {
  dl.mesh @mesh ["data" = 1 of 8]
  func.func @product(%x: tensor<8x4xf32> {dl.sharding = #dl.sharding<[data, _]>}, %y: tensor<8x5xf32> {dl.sharding = #dl.sharding<[data, _]>})
      -> tensor<4x5xf32> attributes {dl.entry} {
    %p = dl.dot_general %x, %y batch [] x [] contract [0] x [0] : (tensor<8x4xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
    return %p : tensor<4x5xf32>
  }
}

// -----

// Rows of a batch of 7 in leaves of one row; joined with another dim they are leaves of three elements.
// CHECK-LABEL: func.func @joined(%arg0: tensor<4x3xf32>
// CHECK: dl.reduce_sum {{.*}} : (tensor<4x3xf32>) -> tensor<4xf32>
module {
  dl.mesh @mesh ["data" = 2 of 8]
  func.func @joined(%x: tensor<7x3xf32> {dl.sharding = #dl.sharding<[data, _]>}) -> tensor<f32> attributes {dl.entry} {
    %r = dl.reshape %x : (tensor<7x3xf32>) -> tensor<21xf32>
    %s = dl.reduce_sum %r over [0] : (tensor<21xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}
