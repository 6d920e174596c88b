// RUN: dlc-opt %s -dl-plan-memory -dl-check-plan -split-input-file | FileCheck %s

// SHAPE-17: a mask of one byte an element dies where floats are made of it: not the same bytes.
// CHECK-LABEL: func.func @mask
// CHECK: dl.group {{.*}}-> tensor<8x8xi1> attributes {slots = [#dl.slot<"activation", [[M:[0-9]+]], 64>]}
// CHECK: dl.group {{.*}}-> tensor<8x8xf32> attributes {slots = [#dl.slot<"activation", [[S:[0-9]+]], 256>]}
// CHECK: dl.select
func.func @mask(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = dl.group kind(pointwise) [8, 8] (%a = %x : tensor<8x8xf32>) -> (tensor<8x8xi1>) {
    %m = dl.is_finite %a : tensor<8x8xf32>
    dl.yield %m : tensor<8x8xi1>
  }
  %1 = dl.group kind(pointwise) [8, 8] (%m = %0 : tensor<8x8xi1>) -> (tensor<8x8xf32>) {
    %one = dl.constant dense<1.0> : tensor<8x8xf32>
    %zero = dl.constant dense<0.0> : tensor<8x8xf32>
    %s = dl.select %m, %one, %zero : tensor<8x8xf32>
    dl.yield %s : tensor<8x8xf32>
  }
  %2 = dl.group kind(contract) [8, 8] (%a = %1 : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %p = dl.dot_general %a, %a batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    dl.yield %p : tensor<8x8xf32>
  }
  return %2 : tensor<8x8xf32>
}

// -----

// Read lane by lane and by a reduction of its row: in place. Read by a broadcast of itself, or by a column sum: not.
// CHECK-LABEL: func.func @rows
// CHECK: kind(row) [8, 8] {{.*}}in_place = array<i64: 0>, slots = [#dl.slot<"activation", [[A:[0-9]+]], 256>]
// CHECK: kind(pointwise) [8, 8] {{.*}}-> tensor<8x8xf32> attributes {slots = [#dl.slot<"activation", [[B:[0-9]+]], 256>]
// CHECK: dl.transpose
func.func @rows(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = dl.group kind(contract) [8, 8] (%a = %x : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %p = dl.dot_general %a, %a batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    dl.yield %p : tensor<8x8xf32>
  }
  %1 = dl.group kind(row) [8, 8] (%a = %0 : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %s = dl.reduce_sum %a over [1] : (tensor<8x8xf32>) -> tensor<8xf32>
    %b = dl.broadcast %s dims [0] : (tensor<8xf32>) -> tensor<8x8xf32>
    %d = dl.div %a, %b : tensor<8x8xf32>
    dl.yield %d : tensor<8x8xf32>
  }
  %2 = dl.group kind(pointwise) [8, 8] (%a = %1 : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %t = dl.transpose %a permutation [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %u = dl.add %a, %t : tensor<8x8xf32>
    dl.yield %u : tensor<8x8xf32>
  }
  %3 = dl.group kind(contract) [8, 8] (%a = %2 : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %p = dl.dot_general %a, %a batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    dl.yield %p : tensor<8x8xf32>
  }
  return %3 : tensor<8x8xf32>
}
