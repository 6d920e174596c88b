// RUN: dlc-opt %s --dlc-emit-gpu --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-emit-gpu --dlc-lower-gpu --split-input-file --dlc-print-ptx -o %t | FileCheck %s --check-prefix=PTX

// An embedding with positions: one index, and 16 bytes of its row and of the position's. What is outside is read from
// inside and replaced.
// CHECK-LABEL: gpu.func @embed_0(
// CHECK: %[[INDEX:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK: arith.cmpi slt, %[[INDEX]], %{{.*}} : i64
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: arith.select %{{.*}} : vector<4xi1>, vector<4xf32>
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// PTX-LABEL: .entry embed_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|ld.global.nc.b32}}
// PTX: ld.global.nc.b64
// PTX: ld.global.nc.v4.b32
// PTX: ld.global.nc.v4.b32
// PTX: st.global.v4.b32
rt.kernel @embed workspace(0) {
^bb0(%w: tensor<1000x64xf32>, %i: tensor<8x32xi64>, %p: tensor<32x64xf32>):
  %0 = dl.group kind(pointwise) [8, 32, 64] (%w1 = %w : tensor<1000x64xf32>, %i1 = %i : tensor<8x32xi64>, %p1 = %p : tensor<32x64xf32>) -> tensor<8x32x64xf32> {
    %1 = dl.gather %w1, %i1 axis 0 : (tensor<1000x64xf32>, tensor<8x32xi64>) -> tensor<8x32x64xf32>
    %2 = dl.broadcast %p1 dims [1, 2] : (tensor<32x64xf32>) -> tensor<8x32x64xf32>
    %3 = dl.add %1, %2 : tensor<8x32x64xf32>
    dl.yield %3 : tensor<8x32x64xf32>
  }
  dl.yield %0 : tensor<8x32x64xf32>
}

// -----

// The same in front of a sum over rows: the index is read once a row.
// CHECK-LABEL: gpu.func @sums_0(
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK-NOT: -> i64
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK: gpu.shuffle
// PTX-LABEL: .entry sums_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|ld.global.nc.b32}}
// PTX: ld.global.nc.v2.b32
// PTX: ret;
rt.kernel @sums workspace(0) {
^bb0(%w: tensor<1000x64xf32>, %i: tensor<8x32xi64>, %p: tensor<32x64xf32>):
  %0 = dl.group kind(row) [8, 32, 64] (%w1 = %w : tensor<1000x64xf32>, %i1 = %i : tensor<8x32xi64>, %p1 = %p : tensor<32x64xf32>) -> tensor<8x32xf32> {
    %1 = dl.gather %w1, %i1 axis 0 : (tensor<1000x64xf32>, tensor<8x32xi64>) -> tensor<8x32x64xf32>
    %2 = dl.broadcast %p1 dims [1, 2] : (tensor<32x64xf32>) -> tensor<8x32x64xf32>
    %3 = dl.add %1, %2 : tensor<8x32x64xf32>
    %4 = dl.reduce_sum %3 over [2] : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    dl.yield %4 : tensor<8x32xf32>
  }
  dl.yield %0 : tensor<8x32xf32>
}

// -----

// Lanes with an index each: four elements of a row, stored as a vector.
// CHECK-LABEL: gpu.func @picked_0(
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi64>
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// PTX-LABEL: .entry picked_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64}}
// PTX: ld.global.nc.v2.b64
// PTX: st.global.v4.b32
rt.kernel @picked workspace(0) {
^bb0(%x: tensor<256x1000xf32>, %i: tensor<256x4xi64>):
  %0 = dl.group kind(pointwise) [256, 4] (%x1 = %x : tensor<256x1000xf32>, %i1 = %i : tensor<256x4xi64>) -> tensor<256x4xf32> {
    %1 = dl.gather %x1, %i1 axis 1 batch_dims 1 : (tensor<256x1000xf32>, tensor<256x4xi64>) -> tensor<256x4xf32>
    dl.yield %1 : tensor<256x4xf32>
  }
  dl.yield %0 : tensor<256x4xf32>
}
