// RUN: dlc-opt %s -dl-set-mesh=axes=data=2 -dl-set-data-parallel -dl-propagate-shardings -dl-place-reshards -dl-partition | FileCheck %s
// RUN: dlc-opt %s -dl-set-mesh="axes=data=2 leaves=data=4" -dl-set-data-parallel -dl-propagate-shardings -dl-place-reshards \
// RUN:   -dl-partition | FileCheck %s --check-prefix=ORDER
// RUN: dlc-opt %S/../../distributed/accumulate.mlir -dl-set-mesh="axes=data=2 leaves=data=8" -dl-set-data-parallel \
// RUN:   -dl-frontend-pipeline -dl-propagate-shardings -dl-place-reshards | FileCheck %s --check-prefix=TREE
// RUN: dlc-opt %S/../../distributed/accumulate.mlir -dl-set-mesh=axes=data=4 -dl-set-data-parallel -dl-frontend-pipeline \
// RUN:   -dl-partition-pipeline | FileCheck %s --check-prefix=ONCE

// No reduction in the loop, one of the loss and of each gradient behind it; a member's rows do not move.
// ONCE-LABEL: func.func @even(%arg0: tensor<12x5xf32>
// ONCE-NOT: dl.all_
// ONCE: dl.scan 4 carry
// ONCE-SAME: slices(%{{.*}} = %{{.*}} : tensor<4x3x5xf32>, %{{.*}} = %{{.*}} : tensor<4x3x3xf32>)
// ONCE-NOT: dl.all_
// ONCE: dl.yield
// ONCE-COUNT-2: dl.all_reduce sum(data)
// ONCE-NOT: dl.all_
// ONCE-LABEL: func.func @uneven(
// Two gathers, of x and of y.
// ONCE-COUNT-2: dl.all_gather(data)
// ONCE: dl.scan 2
// ONCE-NOT: dl.all_
// ONCE: dl.yield
// ONCE-COUNT-2: dl.all_reduce sum(data)
// ONCE-NOT: dl.all_
// ONCE: return

// Each loop of two steps doubles the leaves that a sum is of, until it is of all.
// TREE-LABEL: func.func @tree(
// TREE: dl.micro_batches %{{.*}} {blocks = 2 : i64, {{.*}}#dl.sharding<[_, data by 6 of 2, _]>
// TREE: dl.scan 2
// TREE-SAME: dl.result_shardings = [#dl.sharding<[_, _], partial = sum(data)>]
// TREE: dl.scan 2
// TREE-SAME: dl.result_shardings = [#dl.sharding<[_, _], partial = sum(data) of 4>]
// TREE: dl.dot_general {{.*}}partial = sum(data) of 2
// TREE-NOT: dl.reshard
// TREE-COUNT-2: dl.yield
// TREE: dl.reshard
// TREE-NEXT: return

// Steps need all members' rows: a collective in the body, and what the member knows of its place is passed in.
// CHECK-LABEL: func.func @collective(
// CHECK: %[[OWN:.*]] = dl.compare lt
// CHECK: dl.scan 3 carry(%{{.*}} = %{{.*}} : tensor<4x4xf32>) slices(%{{.*}} = %{{.*}} : tensor<3x4xf32>)
// CHECK-SAME: whole(%{{.*}} = %[[OWN]] : tensor<4xi1>) -> tensor<4x4xf32> {
// CHECK: dl.all_reduce sum(data) %{{.*}} : tensor<4xf32>
// CHECK: dl.yield
// CHECK-NOT: dl.all_
func.func @collective(%x: tensor<7x4xf32>, %ws: tensor<3x4xf32> {dl.sharding = #dl.sharding<[_, _]>}) -> tensor<7x4xf32>
    attributes {dl.entry} {
  %y = dl.scan 3 carry(%a = %x : tensor<7x4xf32>) slices(%v = %ws : tensor<3x4xf32>) -> (tensor<7x4xf32>) {
    %0 = dl.reduce_sum %a over [0] : (tensor<7x4xf32>) -> tensor<4xf32>
    %1 = dl.exp %0 : tensor<4xf32>
    %2 = dl.add %v, %1 : tensor<4xf32>
    %3 = dl.broadcast %2 dims [1] : (tensor<4xf32>) -> tensor<7x4xf32>
    %4 = dl.mul %a, %3 : tensor<7x4xf32>
    dl.yield %4 : tensor<7x4xf32>
  }
  return %y : tensor<7x4xf32>
}

// A carried value that a step reads otherwise is reduced in each step.
// CHECK-LABEL: func.func @read(
// CHECK: dl.scan 2
// CHECK: %[[SUM:.*]] = dl.reduce_sum
// CHECK: dl.all_reduce sum(data) %[[SUM]]
// CHECK: dl.exp
// CHECK-NOT: dl.all_
func.func @read(%xs: tensor<2x4x3xf32> {dl.sharding = #dl.sharding<[_, data, _]>}) -> tensor<3xf32> attributes {dl.entry} {
  %zero = dl.constant dense<0.0> : tensor<3xf32>
  %y = dl.scan 2 carry(%a = %zero : tensor<3xf32>) slices(%x = %xs : tensor<2x4x3xf32>) -> (tensor<3xf32>) {
    %0 = dl.reduce_sum %x over [0] : (tensor<4x3xf32>) -> tensor<3xf32>
    %1 = dl.exp %a : tensor<3xf32>
    %2 = dl.add %1, %0 : tensor<3xf32>
    dl.yield %2 : tensor<3xf32>
  }
  return %y : tensor<3xf32>
}

// Steps are taken one after the other: a split dim of steps is gathered.
// CHECK-LABEL: func.func @steps(
// CHECK: dl.all_gather(data)
// CHECK: dl.scan 4
// CHECK-NOT: dl.all_
func.func @steps(%xs: tensor<4x3xf32>) -> tensor<3xf32> attributes {dl.entry} {
  %zero = dl.constant dense<0.0> : tensor<3xf32>
  %y = dl.scan 4 carry(%a = %zero : tensor<3xf32>) slices(%x = %xs : tensor<4x3xf32>) -> (tensor<3xf32>) {
    %0 = dl.exp %x : tensor<3xf32>
    %1 = dl.add %a, %0 : tensor<3xf32>
    dl.yield %1 : tensor<3xf32>
  }
  return %y : tensor<3xf32>
}

// Branches agree on how a result is held; where only one has parts of a sum, the other's value is the first member's.
// CHECK-LABEL: func.func @branches(
// CHECK: dl.cond
// CHECK-NOT: dl.all_
// CHECK: else
// CHECK: %[[MINE:.*]] = dl.select
// CHECK: dl.yield %[[MINE]], %{{.*}} : tensor<3xf32>, tensor<4x3xf32>
// CHECK: dl.all_reduce sum(data)
func.func @branches(%x: tensor<8x3xf32>, %p: tensor<i1>, %c: tensor<3xf32> {dl.sharding = #dl.sharding<[_]>})
    -> (tensor<3xf32>, tensor<8x3xf32>) attributes {dl.entry} {
  %s, %r = dl.cond %p (%a = %x : tensor<8x3xf32>, %b = %c : tensor<3xf32>) -> (tensor<3xf32>, tensor<8x3xf32>) {
    %0 = dl.reduce_sum %a over [0] : (tensor<8x3xf32>) -> tensor<3xf32>
    dl.yield %0, %a : tensor<3xf32>, tensor<8x3xf32>
  } else (%a, %b) {
    %0 = dl.broadcast %b dims [1] : (tensor<3xf32>) -> tensor<8x3xf32>
    dl.yield %b, %0 : tensor<3xf32>, tensor<8x3xf32>
  }
  return %s, %r : tensor<3xf32>, tensor<8x3xf32>
}

// In a step what is linear is done to parts: a mean, and the gradient of a table of which each step uses some rows.
// CHECK-LABEL: func.func @linear(
// CHECK: dl.scan 2
// CHECK: %[[COUNT:.*]] = dl.all_reduce sum(data)
// CHECK: dl.div %{{.*}}, %[[COUNT]]
// CHECK-NOT: dl.all_
// CHECK: dl.yield
// CHECK-COUNT-2: dl.all_reduce sum(data)
// CHECK-NOT: dl.all_
// Where the sum has an order of its own it is taken first, in each step.
// ORDER-LABEL: func.func @linear(
// ORDER: dl.scan 2
// ORDER-COUNT-2: dl.all_reduce sum(data)
// ORDER: dl.div
// ORDER: dl.yield
// ORDER-NOT: dl.all_
func.func @linear(%xs: tensor<2x4x3xf32> {dl.sharding = #dl.sharding<[_, data, _]>},
                  %ns: tensor<2x4x3xf32> {dl.sharding = #dl.sharding<[_, data, _]>},
                  %i: tensor<3xi64> {dl.sharding = #dl.sharding<[_]>}) -> (tensor<3xf32>, tensor<9xf32>) attributes {dl.entry} {
  %zero = dl.constant dense<0.0> : tensor<3xf32>
  %table = dl.constant dense<0.0> : tensor<9xf32>
  %y, %t = dl.scan 2 carry(%a = %zero : tensor<3xf32>, %b = %table : tensor<9xf32>)
      slices(%x = %xs : tensor<2x4x3xf32>, %n = %ns : tensor<2x4x3xf32>) whole(%at = %i : tensor<3xi64>)
      -> (tensor<3xf32>, tensor<9xf32>) {
    %none = dl.constant dense<0.0> : tensor<9xf32>
    %sum = dl.reduce_sum %x over [0] : (tensor<4x3xf32>) -> tensor<3xf32>
    %count = dl.reduce_sum %n over [0] : (tensor<4x3xf32>) -> tensor<3xf32>
    %mean = dl.div %sum, %count : tensor<3xf32>
    %0 = dl.add %a, %mean : tensor<3xf32>
    %rows = dl.scatter %none, %at, %sum axis 0 kind(add) : (tensor<9xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<9xf32>
    %1 = dl.add %b, %rows : tensor<9xf32>
    dl.yield %0, %1 : tensor<3xf32>, tensor<9xf32>
  }
  return %y, %t : tensor<3xf32>, tensor<9xf32>
}
