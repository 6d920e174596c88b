// RUN: dlc-opt %s --dlc-emit-gpu --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-emit-gpu --dlc-lower-gpu --split-input-file --dlc-print-ptx -o %t | FileCheck %s --check-prefix=PTX

// Tiles of 32 x 32 fill more multiprocessors than large ones; two buffers of 16 terms a factor; one barrier before the
// loop and one a step. The bias is added in registers.
// CHECK-DAG: @linear_shared_0() {addr_space = 3 : i32, {{.*}}} : !llvm.array<1152 x f32>
// CHECK-DAG: @linear_shared_1() {addr_space = 3 : i32, {{.*}}} : !llvm.array<1152 x f32>
// CHECK: gpu.func @linear_0(
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 64, 1, 1>
// CHECK-SAME: nvvm.maxnreg = 232
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-256: math.fma %{{.*}} : f32
// CHECK-NOT: math.fma
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.yield
// CHECK: llvm.loop_annotation
// CHECK-COUNT-4: arith.addf %{{.*}} : vector<4xf32>
// CHECK: gpu.return
// PTX-LABEL: .entry linear_0(
// PTX: .maxntid 64
// PTX: .maxnreg 232
// PTX-NOT: {{\.local|(div|rem)\.[us]64}}
// PTX: ld.global.nc.v4.b32
// PTX: st.shared
// PTX: bar.sync
// PTX: .pragma "nounroll";
// PTX-NOT: {{\.local|(div|rem)\.[us]64|selp.f32}}
// PTX: ld.shared.v4.b32
// PTX: fma.rn.f32
// PTX: st.shared.v4.b32
// PTX: bar.sync
// PTX: add.rn.f32
// PTX-NOT: {{\.local|st.global.b32}}
// PTX: st.global.v4.b32
// PTX: ret;
rt.kernel @linear workspace(0) {
^bb0(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>, %b: tensor<256xf32>):
  %0 = dl.group kind(contract) [256, 256] (%x1 = %x : tensor<256x256xf32>, %w1 = %w : tensor<256x256xf32>, %b1 = %b : tensor<256xf32>) -> tensor<256x256xf32> {
    %1 = dl.dot_general %x1, %w1 batch [] x [] contract [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %2 = dl.broadcast %b1 dims [1] : (tensor<256xf32>) -> tensor<256x256xf32>
    %3 = dl.add %1, %2 : tensor<256x256xf32>
    dl.yield %3 : tensor<256x256xf32>
  }
  dl.yield %0 : tensor<256x256xf32>
}

// -----

// Enough work for tiles of 128 x 64: a thread has 8 rows and 4 columns.
// CHECK-LABEL: gpu.func @large_0(
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 512, 1, 1>
// CHECK-COUNT-512: math.fma %{{.*}} : f32
// CHECK-NOT: math.fma
// PTX-LABEL: .entry large_0(
// PTX-NOT: {{\.local|selp.f32|ld.global.nc.b32}}
// PTX: ret;
rt.kernel @large workspace(0) {
^bb0(%x: tensor<2048x512xf32>, %w: tensor<512x2048xf32>):
  %0 = dl.group kind(contract) [2048, 2048] (%x1 = %x : tensor<2048x512xf32>, %w1 = %w : tensor<512x2048xf32>) -> tensor<2048x2048xf32> {
    %1 = dl.dot_general %x1, %w1 batch [] x [] contract [1] x [0] : (tensor<2048x512xf32>, tensor<512x2048xf32>) -> tensor<2048x2048xf32>
    dl.yield %1 : tensor<2048x2048xf32>
  }
  dl.yield %0 : tensor<2048x2048xf32>
}

// -----

// A batch of products that read one factor transposed and the other one across heads: index maps, one launch. What lies
// along terms is stored element by element, what lies along lines in vectors.
// CHECK-LABEL: gpu.func @heads_0(
// CHECK-NOT: gpu.func
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// PTX-LABEL: .entry heads_0(
// PTX-NOT: {{\.local|selp.f32|ld.global.nc.b32}}
// PTX: ret;
rt.kernel @heads workspace(0) {
^bb0(%p: tensor<2x4x32x32xf32>, %v: tensor<2x32x4x16xf32>):
  %0 = dl.group kind(contract) [2, 4, 32, 16] (%p1 = %p : tensor<2x4x32x32xf32>, %v1 = %v : tensor<2x32x4x16xf32>) -> tensor<2x4x32x16xf32> {
    %1 = dl.dot_general %p1, %v1 batch [0, 1] x [0, 2] contract [3] x [1] : (tensor<2x4x32x32xf32>, tensor<2x32x4x16xf32>) -> tensor<2x4x32x16xf32>
    dl.yield %1 : tensor<2x4x32x16xf32>
  }
  dl.yield %0 : tensor<2x4x32x16xf32>
}

// -----

// Many terms and few elements, as in the gradient of a weight: 16 parts, added in order by a launch of their own.
// CHECK-LABEL: gpu.func @parts_0(
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 16, 1, 1>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: gpu.func @parts_1(
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
// CHECK-DAG: %[[COUNT:.*]] = arith.constant 16 : i64
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : vector<4xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COUNT]] step %{{.*}} iter_args(%[[SUM:.*]] = %[[ZERO]])
// CHECK: %[[PART:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: arith.addf %[[SUM]], %[[PART]] : vector<4xf32>
// PTX-LABEL: .entry parts_0(
// PTX-LABEL: .entry parts_1(
rt.kernel @parts workspace(65536) {
^bb0(%x: tensor<4096x32xf32>, %dy: tensor<4096x32xf32>):
  %0 = dl.group kind(contract) [32, 32] (%x1 = %x : tensor<4096x32xf32>, %dy1 = %dy : tensor<4096x32xf32>) -> tensor<32x32xf32> {
    %1 = dl.dot_general %x1, %dy1 batch [] x [] contract [0] x [0] : (tensor<4096x32xf32>, tensor<4096x32xf32>) -> tensor<32x32xf32>
    dl.yield %1 : tensor<32x32xf32>
  }
  dl.yield %0 : tensor<32x32xf32>
}

// -----

// A small product has small tiles, and two steps of 8 terms rather than a long one.
// CHECK-DAG: @small_shared_0() {{.*}} : !llvm.array<320 x f32>
// CHECK-DAG: @small_shared_1() {{.*}} : !llvm.array<576 x f32>
// CHECK: gpu.func @small_0(
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
// CHECK: scf.for
// CHECK-COUNT-64: math.fma
// CHECK-NOT: math.fma
// CHECK: gpu.return
// PTX-LABEL: .entry small_0(
rt.kernel @small workspace(0) {
^bb0(%x: tensor<16x10xf32>, %w: tensor<10x20xf32>):
  %0 = dl.group kind(contract) [16, 20] (%x1 = %x : tensor<16x10xf32>, %w1 = %w : tensor<10x20xf32>) -> tensor<16x20xf32> {
    %1 = dl.dot_general %x1, %w1 batch [] x [] contract [1] x [0] : (tensor<16x10xf32>, tensor<10x20xf32>) -> tensor<16x20xf32>
    dl.yield %1 : tensor<16x20xf32>
  }
  dl.yield %0 : tensor<16x20xf32>
}

// -----

// Edges: what is outside is 0 by a select, never by a branch or a mask; stores are by a branch.
// CHECK-LABEL: gpu.func @odd_0(
// CHECK-NOT: llvm.intr.masked
// CHECK: scf.for
// CHECK: arith.minui
// CHECK-NOT: scf.if
// CHECK: arith.cmpi ult
// CHECK: arith.select
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: scf.yield
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// PTX-LABEL: .entry odd_0(
// PTX-NOT: .local
// PTX: selp.f32
// PTX: ret;
rt.kernel @odd workspace(0) {
^bb0(%x: tensor<65x63xf32>, %w: tensor<63x129xf32>):
  %0 = dl.group kind(contract) [65, 129] (%x1 = %x : tensor<65x63xf32>, %w1 = %w : tensor<63x129xf32>) -> tensor<65x129xf32> {
    %1 = dl.dot_general %x1, %w1 batch [] x [] contract [1] x [0] : (tensor<65x63xf32>, tensor<63x129xf32>) -> tensor<65x129xf32>
    dl.yield %1 : tensor<65x129xf32>
  }
  dl.yield %0 : tensor<65x129xf32>
}

// -----

// No terms: zeros, and nothing is read.
// CHECK-LABEL: gpu.func @empty_0(
// CHECK-NOT: llvm.load
// CHECK: llvm.store
// CHECK: gpu.return
// PTX-LABEL: .entry empty_0(
rt.kernel @empty workspace(0) {
^bb0(%x: tensor<2x0xf64>, %w: tensor<0x2xf64>):
  %0 = dl.group kind(contract) [2, 2] (%x1 = %x : tensor<2x0xf64>, %w1 = %w : tensor<0x2xf64>) -> tensor<2x2xf64> {
    %1 = dl.dot_general %x1, %w1 batch [] x [] contract [1] x [0] : (tensor<2x0xf64>, tensor<0x2xf64>) -> tensor<2x2xf64>
    dl.yield %1 : tensor<2x2xf64>
  }
  dl.yield %0 : tensor<2x2xf64>
}
