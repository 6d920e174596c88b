// RUN: dlc-check %s -mesh=data=2,model=1
// RUN: dlc-check %s -mesh=data=3,model=1
// RUN: dlc-check %s -mesh=data=4,model=1
// RUN: dlc-check %s -mesh=data=2,model=2
// RUN: dlc-check %s -mesh=data=3,model=2
// RUN: dlc-check %s -mesh=data=2,model=4
// RUN: dlc-opt %s -dl-set-data-parallel -dl-frontend-pipeline -dl-partition-pipeline | FileCheck %s

// From each way of holding a tensor to each other one, where hardly an extent is a multiple of the members.
dl.mesh @mesh ["data" = 2, "model" = 3]

// CHECK-LABEL: func.func @parts_of_a_sum(
// CHECK-COUNT-1: dl.reduce_scatter sum(data) %{{.*}} dim(0) : tensor<6x4xf64> -> tensor<3x4xf64>
// CHECK-NOT: {{dl.all|dl.reduce_scatter}}
// CHECK: return
func.func @parts_of_a_sum(%x: tensor<7x5xf64>, %d: tensor<7x4xf64>) -> tensor<5x4xf64> attributes {dl.entry} {
  %g = dl.dot_general %x, %d batch [] x [] contract [0] x [0] : (tensor<7x5xf64>, tensor<7x4xf64>) -> tensor<5x4xf64>
  %r = dl.reshard %g to <[data, _]> : tensor<5x4xf64>
  %y = dl.exp %r : tensor<5x4xf64>
  return %y : tensor<5x4xf64>
}

// Two sums are added first, and the one behind them is asked for by what reads it in parts.
// CHECK-LABEL: func.func @parts_of_two_sums(
// CHECK-COUNT-1: dl.reduce_scatter sum(data) %{{.*}} dim(0) : tensor<4x5xf64> -> tensor<2x5xf64>
// CHECK-NOT: {{dl.all|dl.reduce_scatter}}
// CHECK: return
func.func @parts_of_two_sums(%x: tensor<7x5xf64>, %d: tensor<7x4xf64>, %e: tensor<7x4xf64>) -> tensor<5x4xf64>
    attributes {dl.entry} {
  %g = dl.dot_general %x, %d batch [] x [] contract [0] x [0] : (tensor<7x5xf64>, tensor<7x4xf64>) -> tensor<5x4xf64>
  %h = dl.dot_general %x, %e batch [] x [] contract [0] x [0] : (tensor<7x5xf64>, tensor<7x4xf64>) -> tensor<5x4xf64>
  %s = dl.add %g, %h : tensor<5x4xf64>
  %q = dl.mul %s, %s : tensor<5x4xf64>
  %r = dl.reshard %q to <[_, data]> : tensor<5x4xf64>
  return %r : tensor<5x4xf64>
}

// Who needs all of it and who needs a part have the one sum.
// CHECK-LABEL: func.func @whole_and_parts(
// CHECK-COUNT-1: dl.all_reduce sum(data) %{{.*}} : tensor<5xf64>
// CHECK-NOT: {{dl.all|dl.reduce_scatter}}
// CHECK: return
func.func @whole_and_parts(%x: tensor<7x5xf64>) -> (tensor<5xf64>, tensor<5xf64>) attributes {dl.entry} {
  %s = dl.reduce_sum %x over [0] : (tensor<7x5xf64>) -> tensor<5xf64>
  %r = dl.reshard %s to <[data]> : tensor<5xf64>
  %y = dl.exp %r : tensor<5xf64>
  %z = dl.sin %s : tensor<5xf64>
  return %y, %z : tensor<5xf64>, tensor<5xf64>
}

// Of a sum along both axes a member gets its part along one, and then the others' share of that.
// CHECK-LABEL: func.func @sum_along_two_axes(
// CHECK-DAG: dl.reduce_scatter sum(model) %{{.*}} dim(0) : tensor<6xf64> -> tensor<2xf64>
// CHECK-DAG: dl.all_reduce sum(data) %{{.*}} : tensor<2xf64>
// CHECK-DAG: dl.reduce_scatter sum(data, model) %{{.*}} dim(0) : tensor<6xf64> -> tensor<1xf64>
// CHECK: return
func.func @sum_along_two_axes(%x: tensor<7x4x5xf64> {dl.sharding = #dl.sharding<[data, model, _]>}) -> (tensor<5xf64>, tensor<5xf64>)
    attributes {dl.entry} {
  %s = dl.reduce_sum %x over [0, 1] : (tensor<7x4x5xf64>) -> tensor<5xf64>
  %r = dl.reshard %s to <[model]> : tensor<5xf64>
  %y = dl.exp %r : tensor<5xf64>
  %x2 = dl.mul %x, %x : tensor<7x4x5xf64>
  %t = dl.reduce_sum %x2 over [0, 1] : (tensor<7x4x5xf64>) -> tensor<5xf64>
  %q = dl.reshard %t to <[data * model]> : tensor<5xf64>
  return %y, %q : tensor<5xf64>, tensor<5xf64>
}

// CHECK-LABEL: func.func @parts_of_extremes(
// CHECK-DAG: dl.reduce_scatter max(data) %{{.*}} dim(0) : tensor<6xf64> -> tensor<3xf64>
// CHECK-DAG: dl.reduce_scatter min(data) %{{.*}} dim(0) : tensor<6xf64> -> tensor<3xf64>
// CHECK-DAG: dl.reduce_scatter max(data) %{{.*}} dim(0) : tensor<6xi8> -> tensor<3xi8>
// CHECK: return
func.func @parts_of_extremes(%x: tensor<7x5xf64>, %y: tensor<7x5xf64>) -> (tensor<5xf64>, tensor<5xf64>, tensor<5xi1>)
    attributes {dl.entry} {
  %m = dl.reduce_max %x over [0] : (tensor<7x5xf64>) -> tensor<5xf64>
  %a = dl.reshard %m to <[data]> : tensor<5xf64>
  %n = dl.reduce_min %x over [0] : (tensor<7x5xf64>) -> tensor<5xf64>
  %b = dl.reshard %n to <[data]> : tensor<5xf64>
  %less = dl.compare lt, %x, %y : tensor<7x5xf64>
  %any = dl.reduce_or %less over [0] : (tensor<7x5xi1>) -> tensor<5xi1>
  %c = dl.reshard %any to <[data]> : tensor<5xi1>
  return %a, %b, %c : tensor<5xf64>, tensor<5xf64>, tensor<5xi1>
}

// CHECK-LABEL: func.func @another_dim(
// CHECK-COUNT-3: dl.all_to_all(data) %{{.*}} dim(0)
// CHECK-NOT: {{dl.all|dl.reduce_scatter}}
// CHECK: return
func.func @another_dim(%x: tensor<7x5xf64>, %y: tensor<3x7x5xf64> {dl.sharding = #dl.sharding<[_, data, _]>})
    -> (tensor<7x5xf64>, tensor<3x7x5xf64>, tensor<3x7x5xf64>) attributes {dl.entry} {
  %0 = dl.reshard %x to <[_, data]> : tensor<7x5xf64>
  %1 = dl.exp %0 : tensor<7x5xf64>
  %2 = dl.reshard %y to <[_, _, data]> : tensor<3x7x5xf64>
  %3 = dl.exp %2 : tensor<3x7x5xf64>
  %4 = dl.reshard %y to <[data, _, _]> : tensor<3x7x5xf64>
  %5 = dl.sin %4 : tensor<3x7x5xf64>
  return %1, %3, %5 : tensor<7x5xf64>, tensor<3x7x5xf64>, tensor<3x7x5xf64>
}

// One dim is gathered to make room; the other moves.
// CHECK-LABEL: func.func @dims_exchanged(
// CHECK: dl.all_gather(model)
// CHECK: dl.all_to_all(data)
// CHECK-NOT: {{dl.all|dl.reduce_scatter}}
// CHECK: return
func.func @dims_exchanged(%x: tensor<7x5xf64> {dl.sharding = #dl.sharding<[data, model]>}) -> tensor<7x5xf64> attributes {dl.entry} {
  %0 = dl.reshard %x to <[model, data]> : tensor<7x5xf64>
  %1 = dl.exp %0 : tensor<7x5xf64>
  return %1 : tensor<7x5xf64>
}

// What all hold is cut by each, and a sum is cut along another axis before it travels.
// CHECK-LABEL: func.func @cut(
// CHECK-NOT: dl.all_
// CHECK: dl.all_reduce sum(data) %{{.*}} : tensor<5x2xf64>
// CHECK-NOT: {{dl.all|dl.reduce_scatter}}
// CHECK: return
func.func @cut(%w: tensor<7x5xf64> {dl.sharding = #dl.sharding<[_, _]>}, %x: tensor<7x5x4xf64>)
    -> (tensor<7x5xf64>, tensor<7x5xf64>, tensor<5x4xf64>) attributes {dl.entry} {
  %0 = dl.reshard %w to <[_, data * model]> : tensor<7x5xf64>
  %1 = dl.exp %0 : tensor<7x5xf64>
  %2 = dl.reshard %w to <[model, data]> : tensor<7x5xf64>
  %3 = dl.sin %2 : tensor<7x5xf64>
  %4 = dl.reduce_sum %x over [0] : (tensor<7x5x4xf64>) -> tensor<5x4xf64>
  %5 = dl.reshard %4 to <[_, model]> : tensor<5x4xf64>
  return %1, %3, %5 : tensor<7x5xf64>, tensor<7x5xf64>, tensor<5x4xf64>
}

// A gradient held in parts, as an optimizer's state may be: reduced once, and gathered for the parameter.
dl.variable @w : tensor<5x3xf64> role(parameter) init(#dl.uniform<-0.5, 0.5>)
// CHECK-LABEL: func.func @update_in_parts(
// CHECK: dl.reduce_scatter sum(data) %{{.*}} dim(0) : tensor<6x3xf64> -> tensor<3x3xf64>
// CHECK: dl.all_gather(data) %{{.*}} dim(0) : tensor<3x3xf64> -> tensor<6x3xf64>
// CHECK: dl.write @w
func.func @update_in_parts(%x: tensor<7x5xf64>) attributes {dl.entry} {
  %w = dl.read @w : tensor<5x3xf64>
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<7x5xf64>, tensor<5x3xf64>) -> tensor<7x3xf64>
  %1 = dl.mul %0, %0 : tensor<7x3xf64>
  %loss = dl.mean %1 over [0, 1] : (tensor<7x3xf64>) -> tensor<f64>
  %g = dl.gradient %loss wrt %w : tensor<f64>, tensor<5x3xf64>
  %mine = dl.reshard %g to <[data, _]> : tensor<5x3xf64>
  %squares = dl.mul %mine, %mine : tensor<5x3xf64>
  %step = dl.sub %mine, %squares : tensor<5x3xf64>
  %next = dl.sub %w, %step : tensor<5x3xf64>
  %whole = dl.reshard %next to <[_, _]> : tensor<5x3xf64>
  dl.write @w, %whole : tensor<5x3xf64>
  return
}
