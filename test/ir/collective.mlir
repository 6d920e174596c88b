// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s | FileCheck %s --check-prefix=BLANKS --strict-whitespace

// CHECK: dl.mesh @mesh ["data" = 4, "model" = 2]
dl.mesh @mesh ["data" = 4, "model" = 2]
// CHECK: dl.variable @mesh.data : tensor<i64> role(coordinate) init(#dl.zeros)
dl.variable @mesh.data : tensor<i64> role(coordinate) init(#dl.zeros)

// CHECK-LABEL: func.func @global(
// CHECK-SAME: tensor<7x8xf32> {dl.sharding = #dl.sharding<[data(0, 2, 4, 4, 7), _]>}
func.func @global(%x: tensor<7x8xf32> {dl.sharding = #dl.sharding<[data(0, 2, 4, 4, 7), _]>}) -> tensor<7x8xf32> {
  // CHECK: dl.reshard %{{.*}} to <[_, _]> : tensor<7x8xf32>
  %0 = dl.reshard %x to <[_, _]> : tensor<7x8xf32>
  // CHECK: dl.reshard %{{.*}} to <[_, data * model]> : tensor<7x8xf32>
  %1 = dl.reshard %0 to <[_, data * model]> : tensor<7x8xf32>
  // CHECK: dl.reshard %{{.*}} to <[model, _], partial = max(data)> : tensor<7x8xf32>
  %2 = dl.reshard %1 to <[model, _], partial = max(data)> : tensor<7x8xf32>
  return %2 : tensor<7x8xf32>
}

// CHECK-LABEL: func.func @local(
func.func @local(%a: tensor<2x5xf32>, %b: tensor<5xf32>, %c: tensor<8x5xi64>) -> (tensor<2x5xf32>, tensor<5xf32>) {
  // CHECK: %[[R:.*]]:2 = dl.all_reduce sum(data) %{{.*}}, %{{.*}} {tensors = ["w", "b"]} : tensor<2x5xf32>, tensor<5xf32>
  // BLANKS: = dl.all_reduce sum(data) %
  // BLANKS: = dl.reduce_scatter min(data) %
  %r:2 = dl.all_reduce sum(data) %a, %b {tensors = ["w", "b"]} : tensor<2x5xf32>, tensor<5xf32>
  // CHECK: dl.all_gather(data, model) %{{.*}} dim(0) : tensor<2x5xf32> -> tensor<16x5xf32>
  %g = dl.all_gather(data, model) %a dim(0) : tensor<2x5xf32> -> tensor<16x5xf32>
  // CHECK: dl.reduce_scatter min(data) %{{.*}} dim(0) : tensor<8x5xi64> -> tensor<2x5xi64>
  %s = dl.reduce_scatter min(data) %c dim(0) : tensor<8x5xi64> -> tensor<2x5xi64>
  // CHECK: dl.all_to_all(data) %{{.*}} dim(0) {tensors = ["c"]} : tensor<8x5xi64>
  %t = dl.all_to_all(data) %c dim(0) {tensors = ["c"]} : tensor<8x5xi64>
  // CHECK: dl.wait %[[R]]#0, %[[R]]#1 : tensor<2x5xf32>, tensor<5xf32>
  %w:2 = dl.wait %r#0, %r#1 : tensor<2x5xf32>, tensor<5xf32>
  return %w#0, %w#1 : tensor<2x5xf32>, tensor<5xf32>
}

// CHECK-LABEL: func.func @groups(
func.func @groups(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: dl.group kind(collective) [4]
  %r = dl.group kind(collective) [4] (%x = %a : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.all_reduce sum(data) %x : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  // CHECK: dl.group kind(wait) [4]
  %w = dl.group kind(wait) [4] (%x = %r : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.wait %x : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  return %w : tensor<4xf32>
}
