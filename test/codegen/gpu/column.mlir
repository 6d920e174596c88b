// RUN: dlc-opt %s --dlc-emit-gpu --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-emit-gpu --dlc-lower-gpu --split-input-file --dlc-print-ptx -o %t | FileCheck %s --check-prefix=PTX

// 32 columns a block, 8 threads a column.
// CHECK: llvm.mlir.global internal @[[TILE:.*]]() {addr_space = 3 : i32, {{.*}}} : !llvm.array<256 x f32>
// CHECK: gpu.func @column_0(
// CHECK-SAME: known_block_size = array<i32: 32, 8, 1>, known_grid_size = array<i32: 4, 1, 1>
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK: arith.addf
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-COUNT-7: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// PTX-LABEL: .entry column_0(
// PTX: st.shared.b32
// PTX: bar.sync
// PTX-NOT: shfl
// PTX: st.global.b32
rt.kernel @column workspace(0) {
^bb0(%x: tensor<100x100xf32>):
  %0 = dl.group kind(column) [100, 100] (%x1 = %x : tensor<100x100xf32>) -> tensor<100xf32> {
    %1 = dl.reduce_sum %x1 over [0] : (tensor<100x100xf32>) -> tensor<100xf32>
    dl.yield %1 : tensor<100xf32>
  }
  dl.yield %0 : tensor<100xf32>
}

// -----

// Few outputs of many rows: blocks of rows for 16 threads a column, then one launch over the blocks.
// CHECK-LABEL: gpu.func @split_0(
// CHECK-SAME: known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: [[BLOCKS:[0-9]+]], 1, 1>
// CHECK-LABEL: gpu.func @split_1(
// CHECK-SAME: known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 1, 1, 1>
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
rt.kernel @split workspace(0) {
^bb0(%x: tensor<100000x10xf32>):
  %0 = dl.group kind(column) [100000, 10] (%x1 = %x : tensor<100000x10xf32>) -> tensor<10xf32> {
    %1 = dl.reduce_sum %x1 over [0] : (tensor<100000x10xf32>) -> tensor<10xf32>
    dl.yield %1 : tensor<10xf32>
  }
  dl.yield %0 : tensor<10xf32>
}

// -----

// The last axis is reduced too, as for the bias of a convolution: a block an output, vectors along the images' rows.
// CHECK-LABEL: gpu.func @channels_0(
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 16, 1, 1>
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: gpu.shuffle
// PTX-LABEL: .entry channels_0(
// PTX-NOT: {{(div|rem).[us]64}}
// PTX: ld.global.nc.v4.b32
// PTX-NOT: {{(div|rem).[us]64}}
// PTX: ret;
rt.kernel @channels workspace(0) {
^bb0(%x: tensor<32x16x12x12xf32>):
  %0 = dl.group kind(column) [32, 16, 12, 12] (%x1 = %x : tensor<32x16x12x12xf32>) -> tensor<16xf32> {
    %1 = dl.reduce_sum %x1 over [0, 2, 3] : (tensor<32x16x12x12xf32>) -> tensor<16xf32>
    dl.yield %1 : tensor<16xf32>
  }
  dl.yield %0 : tensor<16xf32>
}
