// RUN: dlc-opt %s -dl-fuse -split-input-file | FileCheck %s --check-prefix FUSED
// RUN: dlc-opt %s -dl-fuse -dl-layout-state -dl-plan-memory -dl-check-plan -split-input-file | FileCheck %s --check-prefix PLAN
// RUN: dlc-opt %s -dl-fuse -dl-backend-pipeline -split-input-file | FileCheck %s --check-prefix RT

// Groups inside the body; the scan is a group without a kernel. A value updated lane by lane stays in place, and starts
// from a copy; slices are addressed, not copied.
// FUSED-LABEL: func.func @sums
// FUSED: dl.group kind(control) [] (
// FUSED-NEXT: dl.scan 5
// FUSED-NEXT: dl.group kind(pointwise) [4]
// PLAN-LABEL: func.func @sums
// PLAN: dl.scan 5 {{.*}} attributes {second_buffers = array<i64: -1>}
// PLAN: in_place = array<i64: 0>, slots = [#dl.slot<"argument", 0, 16>]
// RT: rt.program @sums
// RT: rt.copy %[[H:.*]] to %[[R:.*]] bytes(16)
// RT: rt.loop 5 slices(%{{.*}}) first() last() other() {
// RT-NEXT: ^bb0(%[[X:.*]]: !rt.buffer):
// RT-NEXT: rt.launch @{{.*}} reads(%[[R]], %[[X]]) writes(%[[R]])
// RT-NEXT: rt.return
func.func @sums(%h0: tensor<4xf32>, %xs: tensor<5x4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  %0 = dl.scan 5 carry(%h = %h0 : tensor<4xf32>) slices(%x = %xs : tensor<5x4xf32>) -> tensor<4xf32> {
    %1 = dl.add %h, %x : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A product reads all of the old value: two buffers in turn, the last step writes the result.
// PLAN-LABEL: func.func @products
// PLAN: workspace = #dl.slot<"activation", 0, 64>
// PLAN: second_buffers = array<i64: 0>
// RT: rt.program @products
// RT: %[[S:.*]] = rt.slice @activation[0, 64]
// RT: rt.loop 5 backwards slices() first(%[[H:.*]]) last(%[[R:.*]]) other(%[[S]]) {
// RT-NEXT: ^bb0(%[[B:.*]]: !rt.buffer, %[[N:.*]]: !rt.buffer):
// RT-NEXT: rt.launch @{{.*}} reads(%[[B]], %{{.*}}) writes(%[[N]])
func.func @products(%h0: tensor<4x4xf32>, %w0: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dl.entry} {
  %0 = dl.scan 5 backwards carry(%h = %h0 : tensor<4x4xf32>) whole(%w = %w0 : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %1 = dl.dot_general %h, %w batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    dl.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// State that is carried: the scan itself updates the variable where it lies.
dl.variable @h : tensor<4xf32> role(buffer) init(#dl.zeros)
// PLAN-LABEL: func.func @state
// PLAN: in_place = array<i64: 0>, slots = [#dl.slot<"buffer.f32", 0, 16>]
// RT: rt.program @state
// RT-NOT: rt.copy
// RT: rt.return
func.func @state(%xs: tensor<5x4xf32>) attributes {dl.entry} {
  %h0 = dl.read @h : tensor<4xf32>
  %0 = dl.scan 5 carry(%h = %h0 : tensor<4xf32>) slices(%x = %xs : tensor<5x4xf32>) -> tensor<4xf32> {
    %1 = dl.add %h, %x : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  dl.write @h, %0 : tensor<4xf32>
  return
}

// -----

// Both sides share the memory of their intermediates and write the same results.
// FUSED-LABEL: func.func @choice
// FUSED: dl.group kind(control) [] (
// FUSED-NEXT: dl.cond
// RT: rt.program @choice
// RT: %[[R:.*]] = rt.result 0
// RT: rt.if %{{.*}} {
// RT: rt.slice @activation[0, 64]
// RT: rt.launch @{{.*}} writes(%[[R]])
// RT: } else {
// RT: rt.copy %{{.*}} to %[[R]] bytes(64)
func.func @choice(%p: tensor<i1>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dl.entry} {
  %r = dl.cond %p (%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = dl.dot_general %a, %a batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = dl.dot_general %0, %0 batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    dl.yield %1 : tensor<4x4xf32>
  } else (%a) {
    dl.yield %a : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}
