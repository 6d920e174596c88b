// RUN: dlc-check %s -mesh=data=3
// RUN: dlc-opt %s -dl-set-data-parallel -dl-frontend-pipeline -dl-partition-pipeline | FileCheck %s

// Parts of given sizes, some of them empty.
dl.mesh @mesh ["data" = 3]

// CHECK-LABEL: func.func @parts_of_a_sum(
// CHECK-COUNT-1: dl.reduce_scatter sum(data) %{{.*}} dim(0) : tensor<9x4xf64> -> tensor<3x4xf64>
// CHECK-NOT: {{dl.all|dl.reduce_scatter}}
// CHECK: return
func.func @parts_of_a_sum(%x: tensor<7x5xf64> {dl.sharding = #dl.sharding<[data(0, 3, 3, 7), _]>},
                          %d: tensor<7x4xf64> {dl.sharding = #dl.sharding<[data(0, 3, 3, 7), _]>}) -> tensor<5x4xf64>
    attributes {dl.entry} {
  %g = dl.dot_general %x, %d batch [] x [] contract [0] x [0] : (tensor<7x5xf64>, tensor<7x4xf64>) -> tensor<5x4xf64>
  %r = dl.reshard %g to <[data(0, 0, 2, 5), _]> : tensor<5x4xf64>
  %y = dl.exp %r : tensor<5x4xf64>
  return %y : tensor<5x4xf64>
}

// CHECK-LABEL: func.func @another_dim(
// CHECK-COUNT-1: dl.all_to_all(data) %{{.*}} dim(0) : tensor<9x4xf64>
// CHECK-NOT: {{dl.all|dl.reduce_scatter}}
// CHECK: return
func.func @another_dim(%x: tensor<7x5xf64> {dl.sharding = #dl.sharding<[data(0, 3, 3, 7), _]>}) -> tensor<7x5xf64> attributes {dl.entry} {
  %0 = dl.reshard %x to <[_, data(0, 1, 4, 5)]> : tensor<7x5xf64>
  %1 = dl.exp %0 : tensor<7x5xf64>
  return %1 : tensor<7x5xf64>
}

// CHECK-LABEL: func.func @cut_and_other_borders(
// CHECK: return
func.func @cut_and_other_borders(%w: tensor<7x5xf64> {dl.sharding = #dl.sharding<[_, _]>}, %x: tensor<7xf64>) -> (tensor<7x5xf64>, tensor<7xf64>)
    attributes {dl.entry} {
  %0 = dl.reshard %w to <[data(0, 6, 6, 7), _]> : tensor<7x5xf64>
  %1 = dl.exp %0 : tensor<7x5xf64>
  %2 = dl.reshard %x to <[data(0, 1, 1, 7)]> : tensor<7xf64>
  %3 = dl.exp %2 : tensor<7xf64>
  return %1, %3 : tensor<7x5xf64>, tensor<7xf64>
}
