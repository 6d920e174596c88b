// RUN: dlc-opt %s --dlc-emit-gpu --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-emit-gpu --dlc-lower-gpu --split-input-file --dlc-print-ptx -o %t | FileCheck %s --check-prefix=PTX

// Softmax of short rows: a warp a row, eight rows a block. The row is read once: exponentials stay in registers.
// CHECK-LABEL: gpu.func @softmax_0(
// CHECK-SAME: known_block_size = array<i32: 32, 8, 1>, known_grid_size = array<i32: 8, 1, 1>
// CHECK-NOT: gpu.barrier
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-5: gpu.shuffle xor %{{.*}} : f32
// CHECK: gpu.shuffle idx %{{.*}} : f32
// CHECK-COUNT-2: math.exp %{{.*}} : vector<4xf32>
// CHECK-COUNT-5: gpu.shuffle xor %{{.*}} : f32
// CHECK: gpu.shuffle idx %{{.*}} : f32
// CHECK-NOT: {{llvm.load|math.exp}}
// CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK: gpu.return
// PTX-LABEL: .entry softmax_0(
// PTX-NOT: {{(div|rem).[us]64|__nv_|approx}}
// PTX: ld.global.nc.v4.b32
// PTX: shfl.sync.bfly.b32
// PTX: shfl.sync.idx.b32
// PTX: fma.rn.f32
// PTX: div.rn.f32
// PTX: st.global.v4.b32
// PTX-NOT: {{bar.*sync}}
// PTX: ret;
rt.kernel @softmax workspace(0) {
^bb0(%x: tensor<64x256xf32>):
  %0 = dl.group kind(row) [64, 256] (%x1 = %x : tensor<64x256xf32>) -> tensor<64x256xf32> {
    %1 = dl.reduce_max %x1 over [1] : (tensor<64x256xf32>) -> tensor<64xf32>
    %2 = dl.broadcast %1 dims [0] : (tensor<64xf32>) -> tensor<64x256xf32>
    %3 = dl.sub %x1, %2 : tensor<64x256xf32>
    %4 = dl.exp %3 : tensor<64x256xf32>
    %5 = dl.reduce_sum %4 over [1] : (tensor<64x256xf32>) -> tensor<64xf32>
    %6 = dl.broadcast %5 dims [0] : (tensor<64xf32>) -> tensor<64x256xf32>
    %7 = dl.div %4, %6 : tensor<64x256xf32>
    dl.yield %7 : tensor<64x256xf32>
  }
  dl.yield %0 : tensor<64x256xf32>
}

// -----

// A row longer than a warp: a block, its warps combined through shared memory.
// CHECK: llvm.mlir.global internal @sum_shared_0() {addr_space = 3 : i32, {{.*}}} : !llvm.array<8 x f64>
// CHECK: gpu.func @sum_0(
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 1, 1>
// 64 bits are shuffled in halves.
// CHECK: gpu.shuffle xor %{{.*}} : i32
// CHECK: gpu.shuffle xor %{{.*}} : i32
// CHECK: arith.addf %{{.*}} : f64
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} : f64, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<3> -> f64
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} : f64, !llvm.ptr<1>
// PTX-LABEL: .entry sum_0(
// PTX: shfl.sync.bfly.b32
// PTX: bar.sync
rt.kernel @sum workspace(0) {
^bb0(%x: tensor<4x5000xf64>):
  %0 = dl.group kind(row) [4, 5000] (%x1 = %x : tensor<4x5000xf64>) -> tensor<4xf64> {
    %1 = dl.reduce_sum %x1 over [1] : (tensor<4x5000xf64>) -> tensor<4xf64>
    dl.yield %1 : tensor<4xf64>
  }
  dl.yield %0 : tensor<4xf64>
}

// -----

// A full reduction: partial results of chunks, then one block. Here are 245 chunks of 4096.
// CHECK-LABEL: gpu.func @full_0(
// CHECK-SAME: known_grid_size = array<i32: 245, 1, 1>
// CHECK: gpu.barrier
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// CHECK-LABEL: gpu.func @full_1(
// CHECK-SAME: known_grid_size = array<i32: 1, 1, 1>
// CHECK: gpu.barrier
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// CHECK-NOT: gpu.func
rt.kernel @full workspace(0) {
^bb0(%x: tensor<1000000xf32>):
  %0 = dl.group kind(row) [1000000] (%x1 = %x : tensor<1000000xf32>) -> tensor<f32> {
    %1 = dl.reduce_sum %x1 over [0] : (tensor<1000000xf32>) -> tensor<f32>
    dl.yield %1 : tensor<f32>
  }
  dl.yield %0 : tensor<f32>
}

// -----

// Two accumulators. Lanes past the row's end are neutral, and no thread leaves the warp.
// CHECK-LABEL: gpu.func @argmax_0(
// CHECK-SAME: known_block_size = array<i32: 32, 3, 1>
// CHECK: %[[LIVE:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: arith.minsi
// CHECK-COUNT-2: arith.select %[[LIVE]],
// CHECK: gpu.shuffle xor %{{.*}} : f32
// CHECK-COUNT-2: gpu.shuffle xor %{{.*}} : i32
rt.kernel @argmax workspace(0) {
^bb0(%x: tensor<3x10xf32>):
  %0 = dl.group kind(row) [3, 10] (%x1 = %x : tensor<3x10xf32>) -> tensor<3xi64> {
    %1 = dl.argmax %x1 over [1] : (tensor<3x10xf32>) -> tensor<3xi64>
    dl.yield %1 : tensor<3xi64>
  }
  dl.yield %0 : tensor<3xi64>
}
