// RUN: dlc-opt %s -dl-fuse -dl-layout-state -dl-plan-memory -dl-check-plan -split-input-file | FileCheck %s
// RUN: dlc-opt %s -dl-fuse -dl-backend-pipeline -split-input-file -o /dev/null

// SHAPE-07: dst = copy of src, then src += 1. The copy reads the old value, so it comes first.
dl.variable @src : tensor<3xf32> role(buffer) init(dense<[0.0, 1.0, 2.0]> : tensor<3xf32>)
dl.variable @dst : tensor<3xf32> role(buffer) init(#dl.zeros)
// CHECK-LABEL: func.func @copy_then_add
// CHECK: %[[SRC:.*]] = dl.read @src
// CHECK: %[[COPY:.*]] = dl.group kind(pointwise) [3] (%[[A:.*]] = %[[SRC]] : tensor<3xf32>) {{.*}}slots = [#dl.slot<"buffer.f32", 64, 12>]
// CHECK-NEXT: dl.yield %[[A]]
// CHECK: dl.group kind(pointwise) [3] (%{{.*}} = %[[SRC]] : tensor<3xf32>) {{.*}}in_place = array<i64: 0>, slots = [#dl.slot<"buffer.f32", 0, 12>]
// CHECK: dl.write @dst, %[[COPY]]
func.func @copy_then_add() attributes {dl.entry} {
  %src = dl.read @src : tensor<3xf32>
  %one = dl.constant dense<1.0> : tensor<3xf32>
  %new = dl.add %src, %one : tensor<3xf32>
  dl.write @src, %new : tensor<3xf32>
  dl.write @dst, %src : tensor<3xf32>
  return
}

// -----

// SHAPE-09: a flipped into itself goes through other bytes.
dl.variable @a : tensor<4xf32> role(buffer) init(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>)
// CHECK-LABEL: func.func @flip
// CHECK: dl.group kind(pointwise) [4] {{.*}}slots = [#dl.slot<"activation", 0, 16>]
// CHECK-NEXT: dl.reverse
// CHECK: %[[C:.*]] = dl.group kind(pointwise) [4] {{.*}}slots = [#dl.slot<"buffer.f32", 0, 16>]
// CHECK-NEXT: dl.yield
// CHECK: dl.write @a, %[[C]]
func.func @flip() attributes {dl.entry} {
  %a = dl.read @a : tensor<4xf32>
  %r = dl.reverse %a axes [0] : (tensor<4xf32>) -> tensor<4xf32>
  dl.write @a, %r : tensor<4xf32>
  return
}

// -----

// Two variables exchange their values: one of them through the activation arena.
dl.variable @a : tensor<4xf32> role(buffer) init(#dl.zeros)
dl.variable @b : tensor<4xf32> role(buffer) init(#dl.zeros)
// CHECK-LABEL: func.func @swap
// CHECK: %[[A:.*]] = dl.read @a
// CHECK: %[[B:.*]] = dl.read @b
// CHECK: %[[T:.*]] = dl.group {{.*}} = %[[A]] : tensor<4xf32>) {{.*}}slots = [#dl.slot<"activation", 0, 16>]
// CHECK: dl.group {{.*}} = %[[B]] : tensor<4xf32>) {{.*}}slots = [#dl.slot<"buffer.f32", 0, 16>]
// CHECK: dl.group {{.*}} = %[[T]] : tensor<4xf32>) {{.*}}slots = [#dl.slot<"buffer.f32", 64, 16>]
func.func @swap() attributes {dl.entry} {
  %a = dl.read @a : tensor<4xf32>
  %b = dl.read @b : tensor<4xf32>
  dl.write @a, %b : tensor<4xf32>
  dl.write @b, %a : tensor<4xf32>
  return
}

// -----

// The new weight is needed before the old one is done with: no overwriting until then.
dl.variable @w : tensor<4x4xf32> role(parameter) init(#dl.zeros)
// CHECK-LABEL: func.func @old_needed
// CHECK: kind(contract) {{.*}}slots = [#dl.slot<"activation",
// CHECK: kind(contract) {{.*}}slots = [#dl.slot<"result", 0, 64>]
// CHECK: kind(pointwise) [4, 4] {{.*}}slots = [#dl.slot<"parameter.f32", 0, 64>]
// CHECK-NEXT: dl.yield
func.func @old_needed(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dl.entry} {
  %w = dl.read @w : tensor<4x4xf32>
  %n = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = dl.dot_general %n, %w batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  dl.write @w, %n : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// An update written first in the program waits for the last reader of the old weight.
dl.variable @w : tensor<4x4xf32> role(parameter) init(#dl.zeros)
// CHECK-LABEL: func.func @reader_first
// CHECK: kind(contract) {{.*}}slots = [#dl.slot<"result", 0, 64>]
// CHECK: kind(pointwise) [4, 4] {{.*}}in_place = array<i64: 0>, slots = [#dl.slot<"parameter.f32", 0, 64>]
func.func @reader_first(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dl.entry} {
  %w = dl.read @w : tensor<4x4xf32>
  %n = dl.neg %w : tensor<4x4xf32>
  %y = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  dl.write @w, %n : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// One value for a variable and a result: computed once, copied once.
dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros)
// CHECK-LABEL: func.func @both
// CHECK: dl.neg
// CHECK: dl.group kind(pointwise) [4] {{.*}}slots = [#dl.slot<"result", 0, 16>]
// CHECK-NEXT: dl.yield
func.func @both() -> tensor<4xf32> attributes {dl.entry} {
  %w = dl.read @w : tensor<4xf32>
  %n = dl.neg %w : tensor<4xf32>
  dl.write @w, %n : tensor<4xf32>
  return %n : tensor<4xf32>
}
