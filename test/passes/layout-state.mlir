// RUN: dlc-opt %s -dl-layout-state -split-input-file -verify-diagnostics | FileCheck %s

// Module order, 64-byte slots, one arena a role and element type; optimizer state and gradients at their parameter's offset.
// CHECK: dl.variable @a {{.*}} slot(<"parameter.f32", 0, 80>)
// CHECK: dl.variable @steps {{.*}} slot(<"counter.i64", 0, 8>)
// CHECK: dl.variable @b.weight {{.*}} slot(<"parameter.f32", 128, 4>)
// CHECK: dl.variable @c {{.*}} slot(<"parameter.f64", 0, 8>)
// CHECK: dl.variable @opt.exp_avg.b.weight {{.*}} slot(<"optimizer_state.exp_avg.f32", 128, 4>)
// CHECK: dl.variable @a.momentum {{.*}} slot(<"optimizer_state.momentum.f32", 0, 80>)
// CHECK: dl.variable @a.grad {{.*}} slot(<"gradient.f32", 0, 80>)
// CHECK: dl.variable @other {{.*}} slot(<"optimizer_state.f32", 0, 12>)
// CHECK: dl.variable @mask {{.*}} slot(<"buffer.i1", 0, 65>)
// CHECK: dl.variable @mask2 {{.*}} slot(<"buffer.i1", 128, 1>)
dl.variable @a : tensor<20xf32> role(parameter) init(#dl.zeros)
dl.variable @steps : tensor<i64> role(counter) init(#dl.zeros)
dl.variable @b.weight : tensor<1xf32> role(parameter) init(#dl.zeros)
dl.variable @c : tensor<f64> role(parameter) init(#dl.zeros)
dl.variable @opt.exp_avg.b.weight : tensor<1xf32> role(optimizer_state) init(#dl.zeros)
dl.variable @a.momentum : tensor<20xf32> role(optimizer_state) init(#dl.zeros)
dl.variable @a.grad : tensor<20xf32> role(gradient) init(#dl.zeros)
dl.variable @other : tensor<3xf32> role(optimizer_state) init(#dl.zeros)
dl.variable @mask : tensor<65xi1> role(buffer) init(#dl.zeros)
dl.variable @mask2 : tensor<1xi1> role(buffer) init(#dl.zeros)

// -----

// Given slots stay; what is new follows, in the same arenas.
// CHECK: dl.variable @a {{.*}} slot(<"r3.parameter.f32", 64, 4>)
// CHECK: dl.variable @b {{.*}} slot(<"parameter.f32", 128, 4>)
// CHECK: dl.variable @c {{.*}} slot(<"parameter.f32", 64, 4>)
// CHECK: dl.variable @a.m {{.*}} slot(<"r3.optimizer_state.m.f32", 64, 4>)
dl.variable @a : tensor<1xf32> role(parameter) init(#dl.zeros) slot(#dl.slot<"r3.parameter.f32", 64, 4>)
dl.variable @b : tensor<1xf32> role(parameter) init(#dl.zeros)
dl.variable @c : tensor<1xf32> role(parameter) init(#dl.zeros) slot(#dl.slot<"parameter.f32", 64, 4>)
dl.variable @a.m : tensor<1xf32> role(optimizer_state) init(#dl.zeros)

// -----

// expected-error @+1 {{expects a slot of 8 bytes at a multiple of 64, got #dl.slot<"parameter.f32", 0, 4>}}
dl.variable @a : tensor<2xf32> role(parameter) init(#dl.zeros) slot(#dl.slot<"parameter.f32", 0, 4>)

// -----

dl.variable @a : tensor<17xf32> role(parameter) init(#dl.zeros) slot(#dl.slot<"parameter.f32", 64, 68>)
// expected-error @+1 {{expects a slot disjoint from that of @a, got #dl.slot<"parameter.f32", 128, 4>}}
dl.variable @b : tensor<1xf32> role(parameter) init(#dl.zeros) slot(#dl.slot<"parameter.f32", 128, 4>)
