// RUN: dlc-check %s -mesh=data=2
// RUN: dlc-check %s -mesh=data=3
// RUN: dlc-opt %s -dl-set-mesh=axes=data=3 -dl-set-data-parallel -dl-frontend-pipeline -dl-partition-pipeline | FileCheck %s

dl.variable @w : tensor<4x3xf64> role(parameter) init(#dl.uniform<-0.5, 0.5>)
dl.variable @unused : tensor<3xf64> role(parameter) init(#dl.uniform<-0.5, 0.5>)

// Clipped by the norm of the whole gradient, and read a second time: reduced once. The norm is of what all have.
// CHECK-LABEL: func.func @clipped(
// CHECK-COUNT-1: dl.all_reduce sum(data) %{{.*}} : tensor<4x3xf64>
// CHECK-NOT: dl.all_
// CHECK: return
func.func @clipped(%x: tensor<7x4xf64>) -> tensor<f64> attributes {dl.entry} {
  %w = dl.read @w : tensor<4x3xf64>
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<7x4xf64>, tensor<4x3xf64>) -> tensor<7x3xf64>
  %1 = dl.mul %0, %0 : tensor<7x3xf64>
  %loss = dl.mean %1 over [0, 1] : (tensor<7x3xf64>) -> tensor<f64>
  %g = dl.gradient %loss wrt %w : tensor<f64>, tensor<4x3xf64>
  %norm = dl.norm %g over [0, 1] : (tensor<4x3xf64>) -> tensor<f64>
  %most = dl.constant dense<0.05> : tensor<f64>
  %ratio = dl.div %most, %norm : tensor<f64>
  %scale = dl.broadcast %ratio dims [] : (tensor<f64>) -> tensor<4x3xf64>
  %clipped = dl.mul %g, %scale : tensor<4x3xf64>
  %again = dl.add %clipped, %g : tensor<4x3xf64>
  %next = dl.sub %w, %again : tensor<4x3xf64>
  dl.write @w, %next : tensor<4x3xf64>
  return %norm : tensor<f64>
}

// A norm of 13 (DIST-07), clipped to 1: gradients that all have count once.
// CHECK-LABEL: func.func @norm_of_replicated(
// CHECK-NOT: dl.all_
// CHECK: return
func.func @norm_of_replicated(%a: tensor<3xf64> {dl.sharding = #dl.sharding<[_]>, dl.value = dense<[3.0, 4.0, 12.0]> : tensor<3xf64>}) -> (tensor<f64>, tensor<3xf64>)
    attributes {dl.entry, dl.expect = [dense<13.0> : tensor<f64>, dense<[0.230769230769, 0.307692307692, 0.923076923077]> : tensor<3xf64>]} {
  %norm = dl.norm %a over [0] : (tensor<3xf64>) -> tensor<f64>
  %all = dl.broadcast %norm dims [] : (tensor<f64>) -> tensor<3xf64>
  %clipped = dl.div %a, %all : tensor<3xf64>
  return %norm, %clipped : tensor<f64>, tensor<3xf64>
}

// The same of a gradient whose elements lie on different members: squares are added first.
// CHECK-LABEL: func.func @norm_of_split(
// CHECK-COUNT-1: dl.all_reduce sum(data) %{{.*}} : tensor<f64>
// CHECK-NOT: dl.all_
// CHECK: return
func.func @norm_of_split(%a: tensor<3xf64> {dl.value = dense<[3.0, 4.0, 12.0]> : tensor<3xf64>}) -> (tensor<f64>, tensor<3xf64>)
    attributes {dl.entry, dl.expect = [dense<13.0> : tensor<f64>, dense<[0.230769230769, 0.307692307692, 0.923076923077]> : tensor<3xf64>]} {
  %norm = dl.norm %a over [0] : (tensor<3xf64>) -> tensor<f64>
  %all = dl.broadcast %norm dims [] : (tensor<f64>) -> tensor<3xf64>
  %clipped = dl.div %a, %all : tensor<3xf64>
  return %norm, %clipped : tensor<f64>, tensor<3xf64>
}

// A parameter that reaches no loss has a gradient of zeros and no collective. Two losses, one gradient each: the two sums
// of members are added before they are reduced.
// CHECK-LABEL: func.func @two_losses(
// CHECK-COUNT-1: dl.all_reduce sum(data) %{{.*}} : tensor<4x3xf64>
// CHECK-NOT: dl.all_
// CHECK: return
func.func @two_losses(%x: tensor<7x4xf64>, %y: tensor<5x4xf64>) -> tensor<3xf64> attributes {dl.entry} {
  %w = dl.read @w : tensor<4x3xf64>
  %unused = dl.read @unused : tensor<3xf64>
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<7x4xf64>, tensor<4x3xf64>) -> tensor<7x3xf64>
  %1 = dl.tanh %0 : tensor<7x3xf64>
  %first = dl.mean %1 over [0, 1] : (tensor<7x3xf64>) -> tensor<f64>
  %2 = dl.dot_general %y, %w batch [] x [] contract [1] x [0] : (tensor<5x4xf64>, tensor<4x3xf64>) -> tensor<5x3xf64>
  %3 = dl.exp %2 : tensor<5x3xf64>
  %second = dl.mean %3 over [0, 1] : (tensor<5x3xf64>) -> tensor<f64>
  %g:2 = dl.gradient %first wrt %w, %unused allow_unused : tensor<f64>, tensor<4x3xf64>, tensor<3xf64>
  %h = dl.gradient %second wrt %w : tensor<f64>, tensor<4x3xf64>
  %sum = dl.add %g#0, %h : tensor<4x3xf64>
  %next = dl.sub %w, %sum : tensor<4x3xf64>
  dl.write @w, %next : tensor<4x3xf64>
  return %g#1 : tensor<3xf64>
}

// The same draw for a row wherever the row is.
// CHECK-LABEL: func.func @dropout(
// CHECK-NOT: dl.all_
// CHECK: return
func.func @dropout(%x: tensor<7x4xf64>, %seed: tensor<i64>) -> tensor<7x4xf64> attributes {dl.entry} {
  %offset = dl.constant dense<5> : tensor<i64>
  %bits = dl.random_bits %seed, %offset : tensor<7x4xi32>
  %zero = dl.constant dense<0> : tensor<7x4xi32>
  %kept = dl.compare lt, %bits, %zero : tensor<7x4xi32>
  %none = dl.constant dense<0.0> : tensor<7x4xf64>
  %y = dl.select %kept, %x, %none : tensor<7x4xf64>
  return %y : tensor<7x4xf64>
}
