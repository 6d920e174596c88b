// RUN: dlc-opt %s -dl-fuse -dl-fuse-horizontal -split-input-file | FileCheck %s
// RUN: dlc-opt %s -dl-fuse -dl-fuse-horizontal -split-input-file | dlc-opt -split-input-file | dlc-opt -dl-fuse -dl-fuse-horizontal -split-input-file | FileCheck %s
// RUN: dlc-opt %s -dl-fuse -dl-fuse-horizontal -dl-layout-state -dl-plan-memory -dl-check-plan -split-input-file | FileCheck %s --check-prefix=PLAN
// RUN: dlc-opt %s -dl-fuse -dl-fuse-horizontal -dl-backend-pipeline -split-input-file -o /dev/null

// Updates of two shapes share a kernel behind the last gradient, and their one scalar; each is still in place.
dl.variable @p : tensor<4x4xf32> role(parameter) init(#dl.zeros)
dl.variable @q : tensor<4x8xf32> role(parameter) init(#dl.zeros)
dl.variable @lr : tensor<f32> role(hyper) init(#dl.zeros)
// CHECK-LABEL: func.func @updates
// CHECK-DAG: %[[P:.*]] = dl.read @p
// CHECK-DAG: %[[Q:.*]] = dl.read @q
// CHECK-DAG: %[[LR:.*]] = dl.read @lr
// CHECK: %[[GP:.*]] = dl.group kind(contract)
// CHECK: %[[GQ:.*]] = dl.group kind(contract)
// CHECK: %[[NEW:.*]]:2 = dl.group kind(horizontal) [] (%[[A:.*]] = %[[GP]] : tensor<4x4xf32>, %[[B:.*]] = %[[LR]] : tensor<f32>, %[[C:.*]] = %[[P]] : tensor<4x4xf32>, %[[D:.*]] = %[[GQ]] : tensor<4x8xf32>, %[[E:.*]] = %[[Q]] : tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x8xf32>)
// CHECK-NEXT: %[[FIRST:.*]] = dl.group kind(pointwise) [4, 4] (%{{.*}} = %[[A]] : tensor<4x4xf32>, %{{.*}} = %[[B]] : tensor<f32>, %{{.*}} = %[[C]] : tensor<4x4xf32>)
// CHECK: %[[SECOND:.*]] = dl.group kind(pointwise) [4, 8] (%{{.*}} = %[[D]] : tensor<4x8xf32>, %{{.*}} = %[[B]] : tensor<f32>, %{{.*}} = %[[E]] : tensor<4x8xf32>)
// CHECK: dl.yield %[[FIRST]], %[[SECOND]]
// CHECK: dl.write @p, %[[NEW]]#0
// CHECK: dl.write @q, %[[NEW]]#1
// PLAN-LABEL: func.func @updates
// PLAN: kind(horizontal) {{.*}}in_place = array<i64: 2, 4>, slots = [#dl.slot<"parameter.f32", 0, 64>, #dl.slot<"parameter.f32", 64, 128>]
// PLAN-NOT: in_place
func.func @updates(%x: tensor<4x4xf32>, %y: tensor<4x8xf32>) attributes {dl.entry} {
  %p = dl.read @p : tensor<4x4xf32>
  %q = dl.read @q : tensor<4x8xf32>
  %lr = dl.read @lr : tensor<f32>
  %gp = dl.dot_general %x, %p batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = dl.broadcast %lr dims [] : (tensor<f32>) -> tensor<4x4xf32>
  %dp = dl.mul %gp, %s : tensor<4x4xf32>
  %np = dl.sub %p, %dp : tensor<4x4xf32>
  dl.write @p, %np : tensor<4x4xf32>
  %gq = dl.dot_general %x, %q batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = dl.broadcast %lr dims [] : (tensor<f32>) -> tensor<4x8xf32>
  %dq = dl.mul %gq, %t : tensor<4x8xf32>
  %nq = dl.sub %q, %dq : tensor<4x8xf32>
  dl.write @q, %nq : tensor<4x8xf32>
  return
}

// -----

// Scalars that only depend on what is there before the step share a kernel at its start.
dl.variable @lr : tensor<f64> role(hyper) init(#dl.zeros)
dl.variable @step : tensor<i64> role(counter) init(#dl.zeros)
// CHECK-LABEL: func.func @scalars
// CHECK: %[[S:.*]]:2 = dl.group kind(horizontal) [] (%{{.*}} : tensor<i64>, %{{.*}} : tensor<f64>) -> (tensor<i64>, tensor<f32>)
// CHECK: kind(contract)
// CHECK: kind(pointwise) [4, 4] {{.*}} = %[[S]]#1 : tensor<f32>
// CHECK: dl.write @step, %[[S]]#0
// PLAN-LABEL: func.func @scalars
func.func @scalars(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dl.entry} {
  %lr = dl.read @lr : tensor<f64>
  %step = dl.read @step : tensor<i64>
  %one = dl.constant dense<1> : tensor<i64>
  %next = dl.add %step, %one : tensor<i64>
  dl.write @step, %next : tensor<i64>
  %g = dl.dot_general %x, %x batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %rate = dl.cast %lr : tensor<f64> to tensor<f32>
  %e = dl.exp %rate : tensor<f32>
  %b = dl.broadcast %e dims [] : (tensor<f32>) -> tensor<4x4xf32>
  %r = dl.reverse %g axes [0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = dl.mul %r, %b : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The second update reads what the first overwrites: side by side they would race.
dl.variable @p : tensor<4x4xf32> role(parameter) init(#dl.zeros)
dl.variable @q : tensor<2x4x4xf32> role(buffer) init(#dl.zeros)
// CHECK-LABEL: func.func @reads_old
// CHECK-NOT: kind(horizontal)
// PLAN-LABEL: func.func @reads_old
// PLAN: slots = [#dl.slot<"buffer.f32"
// PLAN: slots = [#dl.slot<"parameter.f32"
// PLAN-NOT: dl.group
func.func @reads_old(%x: tensor<4x4xf32>, %y: tensor<2x4x4xf32>) attributes {dl.entry} {
  %p = dl.read @p : tensor<4x4xf32>
  %g = dl.dot_general %x, %x batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %np = dl.sub %p, %g : tensor<4x4xf32>
  dl.write @p, %np : tensor<4x4xf32>
  %h = dl.dot_general %y, %x batch [] x [] contract [2] x [0] : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %r = dl.reverse %h axes [0] : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %b = dl.broadcast %p dims [1, 2] : (tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %nq = dl.sub %r, %b : tensor<2x4x4xf32>
  dl.write @q, %nq : tensor<2x4x4xf32>
  return
}

// -----

// Large updates stay by themselves: they take longer than a launch.
dl.variable @p : tensor<512x512xf32> role(parameter) init(#dl.zeros)
dl.variable @q : tensor<512x512xf32> role(parameter) init(#dl.zeros)
// CHECK-LABEL: func.func @large
// CHECK-NOT: kind(horizontal)
// PLAN-LABEL: func.func @large
func.func @large(%x: tensor<512x512xf32>) attributes {dl.entry} {
  %p = dl.read @p : tensor<512x512xf32>
  %q = dl.read @q : tensor<512x512xf32>
  %g = dl.dot_general %x, %p batch [] x [] contract [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %np = dl.sub %p, %g : tensor<512x512xf32>
  dl.write @p, %np : tensor<512x512xf32>
  %h = dl.dot_general %x, %q batch [] x [] contract [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %nq = dl.sub %q, %h : tensor<512x512xf32>
  dl.write @q, %nq : tensor<512x512xf32>
  return
}

// -----

// Gradients of 96 KiB each: two of them wait, not four.
dl.variable @a : tensor<192x128xf32> role(parameter) init(#dl.zeros)
dl.variable @b : tensor<192x128xf32> role(parameter) init(#dl.zeros)
dl.variable @c : tensor<192x128xf32> role(parameter) init(#dl.zeros)
dl.variable @d : tensor<192x128xf32> role(parameter) init(#dl.zeros)
// CHECK-LABEL: func.func @held
// CHECK: kind(contract)
// CHECK: kind(contract)
// CHECK-NEXT: dl.dot_general
// CHECK-NEXT: dl.yield
// CHECK-NEXT: }
// CHECK-NEXT: :2 = dl.group kind(horizontal)
// CHECK: kind(contract)
// CHECK: kind(contract)
// CHECK: :2 = dl.group kind(horizontal)
// PLAN-LABEL: func.func @held
func.func @held(%x: tensor<192x192xf32>) attributes {dl.entry} {
  %a = dl.read @a : tensor<192x128xf32>
  %b = dl.read @b : tensor<192x128xf32>
  %c = dl.read @c : tensor<192x128xf32>
  %d = dl.read @d : tensor<192x128xf32>
  %ga = dl.dot_general %x, %a batch [] x [] contract [1] x [0] : (tensor<192x192xf32>, tensor<192x128xf32>) -> tensor<192x128xf32>
  %na = dl.sub %a, %ga : tensor<192x128xf32>
  dl.write @a, %na : tensor<192x128xf32>
  %gb = dl.dot_general %x, %b batch [] x [] contract [1] x [0] : (tensor<192x192xf32>, tensor<192x128xf32>) -> tensor<192x128xf32>
  %nb = dl.sub %b, %gb : tensor<192x128xf32>
  dl.write @b, %nb : tensor<192x128xf32>
  %gc = dl.dot_general %x, %c batch [] x [] contract [1] x [0] : (tensor<192x192xf32>, tensor<192x128xf32>) -> tensor<192x128xf32>
  %nc = dl.sub %c, %gc : tensor<192x128xf32>
  dl.write @c, %nc : tensor<192x128xf32>
  %gd = dl.dot_general %x, %d batch [] x [] contract [1] x [0] : (tensor<192x192xf32>, tensor<192x128xf32>) -> tensor<192x128xf32>
  %nd = dl.sub %d, %gd : tensor<192x128xf32>
  dl.write @d, %nd : tensor<192x128xf32>
  return
}
