// RUN: dlc-opt %s -dl-fuse -dl-fuse-horizontal -dl-overlap-collectives | FileCheck %s
// RUN: dlc-opt %s -dl-fuse -dl-fuse-horizontal -dl-overlap-collectives | dlc-opt -dl-fuse -dl-overlap-collectives | FileCheck %s

dl.mesh @mesh ["data" = 2]
dl.variable @a : tensor<8xf32> role(parameter) init(#dl.zeros)
dl.variable @b : tensor<8xf32> role(parameter) init(#dl.zeros)
dl.variable @c : tensor<8xf32> role(parameter) init(#dl.zeros)

// A collective is a group that nothing joins; all its results have one wait, in front of the first reader. Updates that wait
// for the same collective share a kernel, others do not.
// CHECK-LABEL: func.func @updates
// CHECK: %[[DA:.*]] = dl.group kind(pointwise)
// CHECK: dl.exp
// CHECK: %[[G:.*]]:2 = dl.group kind(collective) [] (%[[X:.*]] = %[[DA]] : tensor<8xf32>, %[[Y:.*]] = %arg1 : tensor<8xf32>)
// CHECK-NEXT: %[[R:.*]]:2 = dl.all_reduce sum(data) %[[X]], %[[Y]]
// CHECK-NEXT: dl.yield %[[R]]#0, %[[R]]#1
// CHECK: %[[H:.*]] = dl.group kind(collective) [] (%{{.*}} = %arg2 : tensor<8xf32>)
// CHECK: %[[W:.*]]:2 = dl.group kind(wait) [] (%[[P:.*]] = %[[G]]#0 : tensor<8xf32>, %[[Q:.*]] = %[[G]]#1 : tensor<8xf32>)
// CHECK-NEXT: %[[D:.*]]:2 = dl.wait %[[P]], %[[Q]]
// CHECK-NEXT: dl.yield %[[D]]#0, %[[D]]#1
// CHECK: dl.group kind(horizontal) [] ({{.*}} = %[[W]]#0 : tensor<8xf32>, {{.*}} = %[[W]]#1 : tensor<8xf32>
// CHECK: %[[V:.*]] = dl.group kind(wait) [] (%{{.*}} = %[[H]] : tensor<8xf32>)
// CHECK: dl.group kind(pointwise) [8] ({{.*}} = %[[V]] : tensor<8xf32>)
// CHECK-NOT: kind(wait)
func.func @updates(%x: tensor<8xf32>, %db: tensor<8xf32>, %dc: tensor<8xf32>) attributes {dl.entry} {
  %a = dl.read @a : tensor<8xf32>
  %b = dl.read @b : tensor<8xf32>
  %c = dl.read @c : tensor<8xf32>
  %da = dl.exp %x : tensor<8xf32>
  %g:2 = dl.all_reduce sum(data) %da, %db : tensor<8xf32>, tensor<8xf32>
  %h = dl.all_reduce sum(data) %dc : tensor<8xf32>
  %na = dl.sub %a, %g#0 : tensor<8xf32>
  %nb = dl.sub %b, %g#1 : tensor<8xf32>
  %nc = dl.sub %c, %h : tensor<8xf32>
  dl.write @a, %na : tensor<8xf32>
  dl.write @b, %nb : tensor<8xf32>
  dl.write @c, %nc : tensor<8xf32>
  return
}

// A result that goes straight to a write or out of the entry is waited for before all writes.
// CHECK-LABEL: func.func @outside
// CHECK: %[[R:.*]] = dl.group kind(collective)
// CHECK: %[[W:.*]] = dl.group kind(wait) [] (%{{.*}} = %[[R]] : tensor<8xf32>)
// CHECK: dl.write @a, %[[W]]
// CHECK: return %[[W]]
func.func @outside(%x: tensor<8xf32>) -> tensor<8xf32> attributes {dl.entry} {
  %g = dl.all_reduce sum(data) %x : tensor<8xf32>
  dl.write @a, %g : tensor<8xf32>
  return %g : tensor<8xf32>
}
