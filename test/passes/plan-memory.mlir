// RUN: dlc-opt %s -dl-fuse -dl-layout-state -dl-plan-memory -dl-check-plan -split-input-file | FileCheck %s
// RUN: dlc-opt %s -dl-fuse -dl-layout-state -dl-plan-memory=workspace=256 -dl-check-plan -split-input-file -o /dev/null

// %0 dies where %2 is computed lane by lane: the same bytes. The result of the entry is written where the caller wants it.
// CHECK-LABEL: func.func @in_place
// CHECK: kind(row) [4, 8] {{.*}}slots = [#dl.slot<"activation", 0, 128>, #dl.slot<"activation", 128, 16>]
// CHECK: kind(row) [4] {{.*}}slots = [#dl.slot<"activation", [[S:.*]], 4>]
// CHECK: kind(pointwise) [4, 8] {{.*}}in_place = array<i64: {{[01]}}>, slots = [#dl.slot<"activation", 0, 128>]
// CHECK: kind(contract) {{.*}}slots = [#dl.slot<"result", 0, 64>]
func.func @in_place(%x: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %0 = dl.exp %x : tensor<4x8xf32>
  %1 = dl.reduce_sum %0 over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %s = dl.reduce_sum %1 over [0] : (tensor<4xf32>) -> tensor<f32>
  %sb = dl.broadcast %s dims [] : (tensor<f32>) -> tensor<4x8xf32>
  %2 = dl.mul %0, %sb : tensor<4x8xf32>
  %3 = dl.dot_general %2, %2 batch [] x [] contract [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// A reshape shares its operand's bytes, also in another entry's result or a variable.
// CHECK-LABEL: func.func @view
// CHECK: kind(contract) {{.*}}slots = [#dl.slot<"result", 0, 16>]
// CHECK: kind(pointwise) [4] {{.*}}slots = [#dl.slot<"result", 0, 16>]
// CHECK-NEXT: dl.reshape
func.func @view(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %0 = dl.dot_general %x, %x batch [] x [] contract [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = dl.reshape %0 : (tensor<2x2xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// An argument belongs to the caller: returning it copies, and nothing is written over it.
// CHECK-LABEL: func.func @argument
// CHECK: kind(pointwise) [4] {{.*}}slots = [#dl.slot<"result", 0, 16>]
// CHECK-NEXT: dl.yield
func.func @argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// The bytes by class: parameters 64, two slots of activations at most, of which both are live at once.
dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros)
// CHECK: module attributes {dl.memory = {activation = 128 : i64, constant = 64 : i64,
// CHECK-SAME: entries = {accounts = {activation = 128 : i64, bound = 128 : i64, io = 192 : i64, peak = 448 : i64}}
// CHECK-SAME: io = 192 : i64, parameter = 64 : i64, workspace = 0 : i64}}
func.func @accounts(%x: tensor<4x4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  %w = dl.read @w : tensor<4xf32>
  %c = dl.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = dl.dot_general %x, %0 batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = dl.dot_general %x, %1 batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = dl.dot_general %x, %c batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = dl.add %2, %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}
