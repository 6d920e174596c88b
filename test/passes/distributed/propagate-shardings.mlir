// RUN: dlc-opt %s -split-input-file -dl-propagate-shardings | FileCheck %s

dl.mesh @mesh ["data" = 2]
dl.variable @w : tensor<4x3xf32> role(parameter) init(#dl.zeros)

// Forward: from the batch to the loss. A contraction over it is a sum of what members have.
// CHECK-LABEL: func.func @forward(
func.func @forward(%x: tensor<8x4xf32> {dl.sharding = #dl.sharding<[data, _]>}) -> (tensor<3xf32>, tensor<4x3xf32>) attributes {dl.entry} {
  // CHECK: dl.read @w : tensor<4x3xf32>
  %w = dl.read @w : tensor<4x3xf32>
  // CHECK: dl.dot_general {{.*}}dl.operand_shardings = [#dl.sharding<[data, _]>, #dl.sharding<[_, _]>], dl.result_shardings = [#dl.sharding<[data, _]>]
  %y = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  // CHECK: dl.exp {{.*}}dl.result_shardings = [#dl.sharding<[data, _]>]
  %e = dl.exp %y : tensor<8x3xf32>
  // CHECK: dl.reduce_sum {{.*}}dl.result_shardings = [#dl.sharding<[_], partial = sum(data)>]
  %s = dl.reduce_sum %e over [0] : (tensor<8x3xf32>) -> tensor<3xf32>
  // CHECK: dl.dot_general {{.*}}dl.result_shardings = [#dl.sharding<[_, _], partial = sum(data)>]
  %g = dl.dot_general %x, %e batch [] x [] contract [0] x [0] : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return %s, %g : tensor<3xf32>, tensor<4x3xf32>
}

// Backward: what is made for split values only is made split; what is returned whole is not.
// CHECK-LABEL: func.func @backward(
func.func @backward(%x: tensor<8x4xf32> {dl.sharding = #dl.sharding<[data, _]>}, %b: tensor<4xf32>)
    -> (tensor<8x4xf32>, tensor<8xi64>) attributes {dl.entry} {
  // CHECK: dl.broadcast {{.*}}dl.result_shardings = [#dl.sharding<[data, _]>]
  %0 = dl.broadcast %b dims [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  // CHECK: dl.neg {{.*}}dl.result_shardings = [#dl.sharding<[data, _]>]
  %1 = dl.neg %0 : tensor<8x4xf32>
  // CHECK: dl.add
  %2 = dl.add %x, %1 : tensor<8x4xf32>
  // CHECK: dl.iota axis 0 : tensor<8xi64>
  %3 = dl.iota axis 0 : tensor<8xi64>
  return %2, %3 : tensor<8x4xf32>, tensor<8xi64>
}

// Uneven rows; a major factor carries its borders through a reshape, a part of one does not.
// CHECK-LABEL: func.func @reshapes(
func.func @reshapes(%x: tensor<7x4x3xf32> {dl.sharding = #dl.sharding<[data(0, 3, 7), _, _]>}, %y: tensor<6x3xf32> {dl.sharding = #dl.sharding<[data, _]>})
    -> (tensor<28x3xf32>, tensor<2x3x3xf32>) attributes {dl.entry} {
  // CHECK: dl.reshape {{.*}}dl.result_shardings = [#dl.sharding<[data(0, 12, 28), _]>]
  %0 = dl.reshape %x : (tensor<7x4x3xf32>) -> tensor<28x3xf32>
  // CHECK: dl.reshape {{.*}}dl.result_shardings = [#dl.sharding<[data, _, _]>]
  %1 = dl.reshape %y : (tensor<6x3xf32>) -> tensor<2x3x3xf32>
  return %0, %1 : tensor<28x3xf32>, tensor<2x3x3xf32>
}

// One axis, two dims of a result: the larger operand keeps it.
// CHECK-LABEL: func.func @conflict(
func.func @conflict(%a: tensor<4x2xf32> {dl.sharding = #dl.sharding<[data, _]>}, %b: tensor<6x2xf32> {dl.sharding = #dl.sharding<[data, _]>})
    -> tensor<4x6xf32> attributes {dl.entry} {
  // CHECK: dl.dot_general {{.*}}dl.operand_shardings = [#dl.sharding<[_, _]>, #dl.sharding<[data, _]>], dl.result_shardings = [#dl.sharding<[_, data]>]
  %0 = dl.dot_general %a, %b batch [] x [] contract [1] x [1] : (tensor<4x2xf32>, tensor<6x2xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// The user's constraint comes first.
// CHECK-LABEL: func.func @constraint(
func.func @constraint(%x: tensor<8x4xf32> {dl.sharding = #dl.sharding<[data, _]>}) -> tensor<8x4xf32> attributes {dl.entry} {
  %0 = dl.reshard %x to <[_, data]> : tensor<8x4xf32>
  // CHECK: dl.exp {{.*}}dl.result_shardings = [#dl.sharding<[_, data]>]
  %1 = dl.exp %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// One member: nothing is split.
dl.mesh @mesh ["data" = 1]
// CHECK-LABEL: func.func @alone(
func.func @alone(%x: tensor<8xf32> {dl.sharding = #dl.sharding<[data]>}) -> tensor<8xf32> attributes {dl.entry} {
  // CHECK: dl.exp %{{.*}} : tensor<8xf32>
  %0 = dl.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
