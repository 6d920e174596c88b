// RUN: dlc-opt %s --dlc-emit-gpu --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-emit-gpu --dlc-lower-gpu --split-input-file --dlc-print-ptx -o %t | FileCheck %s --check-prefix=PTX

// 32 queries a block of 128 threads, 64 keys a tile; rows of shared memory are 17 vectors apart. Four scores each of
// four queries a thread, 16 terms written out. The loop over tiles ends at the block's last query.
// CHECK-DAG: @heads_shared_0() {addr_space = 3 : i32, {{.*}}} : !llvm.array<2176 x f32>
// CHECK-DAG: @heads_shared_1() {addr_space = 3 : i32, {{.*}}} : !llvm.array<4352 x f32>
// CHECK-DAG: @heads_shared_2() {addr_space = 3 : i32, {{.*}}} : !llvm.array<2176 x f32>
// CHECK: gpu.func @heads_0(
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 256, 1, 1>
// CHECK-SAME: nvvm.maxnreg = 128
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: %[[TILES:.*]] = arith.minui
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TILES]]
// CHECK: gpu.barrier
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-256: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
// CHECK: gpu.shuffle xor %{{.*}}, %c8_i32
// CHECK: math.exp
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-64: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
// CHECK-NOT: gpu.barrier
// CHECK: gpu.shuffle xor
// CHECK: arith.divf
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT: gpu.func
// PTX-LABEL: .entry heads_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|ld.global.nc.b32}}
// PTX: ld.global.nc.v4.b32
// PTX: bar.sync
// PTX: ld.shared.v4.b32
// PTX: shfl.sync.bfly.b32
// PTX-NOT: {{\.local|(div|rem)\.[us]64|ld.global.nc.b32}}
// PTX: st.global.v4.b32
// PTX: ret;
rt.kernel @heads workspace(0) {
^bb0(%q: tensor<64x128x64xf32>, %k: tensor<64x256x64xf32>, %v: tensor<64x256x64xf32>):
  %0:2 = dl.group kind(window) [64, 128] (%q1 = %q : tensor<64x128x64xf32>, %k1 = %k : tensor<64x256x64xf32>, %v1 = %v : tensor<64x256x64xf32>) -> (tensor<64x128x64xf32>, tensor<64x128xf32>) {
    %y, %lse = dl.attention %q1, %k1, %v1 causal scale 0.125 : (tensor<64x128x64xf32>, tensor<64x256x64xf32>, tensor<64x256x64xf32>) -> (tensor<64x128x64xf32>, tensor<64x128xf32>)
    dl.yield %y, %lse : tensor<64x128x64xf32>, tensor<64x128xf32>
  }
  dl.yield %0#0, %0#1 : tensor<64x128x64xf32>, tensor<64x128xf32>
}

// -----

// Few queries and keys: smaller blocks, one tile, so no loop; one column of y a thread. A row of keys is 16 terms, a
// number of 4 vectors, so that rows are 5 vectors apart.
// CHECK-DAG: @few_shared_0() {{.*}} : !llvm.array<320 x f32>
// CHECK-DAG: @few_shared_1() {{.*}} : !llvm.array<640 x f32>
// CHECK: gpu.func @few_0(
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 64, 1, 1>
// CHECK-NOT: scf.for
// CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
// CHECK: gpu.shuffle
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK: gpu.return
// PTX-LABEL: .entry few_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64}}
// PTX: ret;
rt.kernel @few workspace(0) {
^bb0(%q: tensor<8x4x32x16xf32>, %k: tensor<8x4x32x16xf32>, %v: tensor<8x4x32x16xf32>, %m: tensor<8x4x32x32xi1>):
  %0:2 = dl.group kind(window) [32, 32] (%q1 = %q : tensor<8x4x32x16xf32>, %k1 = %k : tensor<8x4x32x16xf32>, %v1 = %v : tensor<8x4x32x16xf32>, %m1 = %m : tensor<8x4x32x32xi1>) -> (tensor<8x4x32x16xf32>, tensor<8x4x32xf32>) {
    %y, %lse = dl.attention %q1, %k1, %v1 mask %m1 scale 0.25 : (tensor<8x4x32x16xf32>, tensor<8x4x32x16xf32>, tensor<8x4x32x16xf32>, tensor<8x4x32x32xi1>) -> (tensor<8x4x32x16xf32>, tensor<8x4x32xf32>)
    dl.yield %y, %lse : tensor<8x4x32x16xf32>, tensor<8x4x32xf32>
  }
  dl.yield %0#0, %0#1 : tensor<8x4x32x16xf32>, tensor<8x4x32xf32>
}

// -----

// The depth in three chunks of 44 terms, values of 16 keys at a time, two blocks for 300 columns.
// CHECK-DAG: @wide_shared_0() {{.*}} : !llvm.array<704 x f32>
// CHECK-DAG: @wide_shared_1() {{.*}} : !llvm.array<3072 x f32>
// CHECK: gpu.func @wide_0(
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 10, 1, 1>
// CHECK-DAG: %[[CHUNKS:.*]] = arith.constant 3 : i64
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[CHUNKS]]
// CHECK: gpu.barrier
// CHECK: arith.select
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: gpu.shuffle
// CHECK: %[[PARTS:.*]] = arith.constant 4 : i64
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[PARTS]]
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: gpu.return
// PTX-LABEL: .entry wide_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64}}
// PTX: ret;
rt.kernel @wide workspace(0) {
^bb0(%q: tensor<5x10x130xf32>, %k: tensor<5x70x130xf32>, %v: tensor<5x70x300xf32>):
  %0:2 = dl.group kind(window) [5, 10] (%q1 = %q : tensor<5x10x130xf32>, %k1 = %k : tensor<5x70x130xf32>, %v1 = %v : tensor<5x70x300xf32>) -> (tensor<5x10x300xf32>, tensor<5x10xf32>) {
    %y, %lse = dl.attention %q1, %k1, %v1 scale 0.0877 : (tensor<5x10x130xf32>, tensor<5x70x130xf32>, tensor<5x70x300xf32>) -> (tensor<5x10x300xf32>, tensor<5x10xf32>)
    dl.yield %y, %lse : tensor<5x10x300xf32>, tensor<5x10xf32>
  }
  dl.yield %0#0, %0#1 : tensor<5x10x300xf32>, tensor<5x10xf32>
}
