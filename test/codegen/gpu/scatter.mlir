// RUN: dlc-opt %s --dlc-emit-gpu --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-emit-gpu --dlc-lower-gpu --split-input-file --dlc-print-ptx -o %t | FileCheck %s --check-prefix=PTX
// RUN: dlc-opt %s --dlc-emit-gpu=unordered-atomics --split-input-file | FileCheck %s --check-prefix=ATOMIC
// RUN: dlc-opt %s --dlc-emit-gpu=unordered-atomics --dlc-lower-gpu --split-input-file --dlc-print-ptx -o %t \
// RUN:   | FileCheck %s --check-prefix=ATOMIC-PTX

// The gradient of an embedding: 512 blocks share 50000 rows, two teams of a block take every other one. The block walks
// the indices 256 at a time, one barrier each; no atomics.
// CHECK-DAG: @embed_shared_0() {addr_space = 3 : i32, {{.*}}} : !llvm.array<16 x i32>
// CHECK-DAG: @embed_shared_1() {addr_space = 3 : i32, {{.*}}} : !llvm.array<512 x i64>
// CHECK: gpu.func @embed_0(
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 511, 1, 1>
// CHECK: scf.for
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK: %[[STEPS:.*]] = arith.constant 16 : i64
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[STEPS]]
// CHECK: arith.cmpi ult
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: math.ctpop
// CHECK: math.cttz
// CHECK: %[[UPDATE:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: %[[OLD:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[UPDATE]]
// CHECK: llvm.store %[[NEW]], %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT: gpu.barrier
// CHECK-NOT: gpu.func
// PTX-LABEL: .entry embed_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|atom\.|[^a]red\.}}
// PTX: bar.sync
// PTX: popc.b32
// PTX: ld.global.v4.b32
// PTX: st.global.v4.b32
// PTX: ret;
// Asked for: a thread an update, four atomic additions.
// ATOMIC-LABEL: gpu.func @embed_0(
// ATOMIC-NOT: atomicrmw
// ATOMIC: gpu.func @embed_1(
// ATOMIC-SAME: known_grid_size = array<i32: 2048, 1, 1>
// ATOMIC: arith.cmpi ult
// ATOMIC: scf.if
// ATOMIC-COUNT-4: llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, f32
// ATOMIC-PTX-LABEL: .entry embed_0(
// ATOMIC-PTX-LABEL: .entry embed_1(
// ATOMIC-PTX-COUNT-4: {{(atom|red)(\.[a-z]+)*}}.global.{{.*}}add.f32
rt.kernel @embed workspace(0) {
^bb0(%x: tensor<50000x512xf32>, %i: tensor<16x256xi64>, %u: tensor<16x256x512xf32>):
  %0 = dl.group kind(window) [50000, 512] (%x1 = %x : tensor<50000x512xf32>, %i1 = %i : tensor<16x256xi64>, %u1 = %u : tensor<16x256x512xf32>) -> tensor<50000x512xf32> {
    %1 = dl.scatter %x1, %i1, %u1 axis 0 kind(add) : (tensor<50000x512xf32>, tensor<16x256xi64>, tensor<16x256x512xf32>) -> tensor<50000x512xf32>
    dl.yield %1 : tensor<50000x512xf32>
  }
  dl.yield %0 : tensor<50000x512xf32>
}

// -----

// One position a batch, no inner elements: a block a batch, a thread a team.
// CHECK-LABEL: gpu.func @picked_0(
// CHECK-SAME: known_grid_size = array<i32: 512, 1, 1>
// CHECK-NOT: gpu.func
// PTX-LABEL: .entry picked_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|atom\.|[^a]red\.}}
// PTX: ret;
rt.kernel @picked workspace(0) {
^bb0(%x: tensor<128x1000xf32>, %i: tensor<128x1xi64>, %u: tensor<128x1xf32>):
  %0 = dl.group kind(window) [128, 1000] (%x1 = %x : tensor<128x1000xf32>, %i1 = %i : tensor<128x1xi64>, %u1 = %u : tensor<128x1xf32>) -> tensor<128x1000xf32> {
    %1 = dl.scatter %x1, %i1, %u1 axis 1 batch_dims 1 kind(add) : (tensor<128x1000xf32>, tensor<128x1xi64>, tensor<128x1xf32>) -> tensor<128x1000xf32>
    dl.yield %1 : tensor<128x1000xf32>
  }
  dl.yield %0 : tensor<128x1000xf32>
}

// -----

// What is put in a place always has an order.
// CHECK-LABEL: gpu.func @set_0(
// CHECK: gpu.barrier
// ATOMIC-LABEL: gpu.func @set_0(
// ATOMIC-NOT: atomicrmw
// ATOMIC: gpu.barrier
// PTX-LABEL: .entry set_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|atom\.|[^a]red\.}}
// PTX: ret;
rt.kernel @set workspace(0) {
^bb0(%x: tensor<65x7xf64>, %i: tensor<70xi32>, %u: tensor<70x7xf64>):
  %0 = dl.group kind(window) [65, 7] (%x1 = %x : tensor<65x7xf64>, %i1 = %i : tensor<70xi32>, %u1 = %u : tensor<70x7xf64>) -> tensor<65x7xf64> {
    %1 = dl.scatter %x1, %i1, %u1 axis 0 kind(set) : (tensor<65x7xf64>, tensor<70xi32>, tensor<70x7xf64>) -> tensor<65x7xf64>
    dl.yield %1 : tensor<65x7xf64>
  }
  dl.yield %0 : tensor<65x7xf64>
}
