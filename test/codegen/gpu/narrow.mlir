// RUN: dlc-opt %s --dlc-emit-gpu --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-emit-gpu --dlc-lower-gpu --split-input-file --dlc-print-ptx -o %t | FileCheck %s --check-prefix=PTX

// Factors of 16 bits: tiles of 32 x 32 by 4 warps, 16 x 16 each, so two products of 16 x 8 for each 16 terms. They lie in
// shared memory as integers, 40 from line to line.
// CHECK-DAG: @product_shared_0() {addr_space = 3 : i32, {{.*}}} : !llvm.array<2560 x i16>
// CHECK-DAG: @product_shared_1() {addr_space = 3 : i32, {{.*}}} : !llvm.array<2560 x i16>
// CHECK: gpu.func @product_0(
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 64, 1, 1>
// CHECK-COUNT-4: nvvm.mma.sync {{.*}} -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK-NOT: nvvm.mma.sync
// CHECK: gpu.return
// PTX-LABEL: .entry product_0(
// PTX-NOT: {{\.local|fma.rn}}
// PTX: ld.global.nc.v4
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX: ret;
rt.kernel @product workspace(0) {
^bb0(%x: tensor<256x256xbf16>, %w: tensor<256x256xbf16>):
  %0 = dl.group kind(contract) [256, 256] (%x1 = %x : tensor<256x256xbf16>, %w1 = %w : tensor<256x256xbf16>) -> tensor<256x256xbf16> {
    %1 = dl.cast %x1 : tensor<256x256xbf16> to tensor<256x256xf32>
    %2 = dl.cast %w1 : tensor<256x256xbf16> to tensor<256x256xf32>
    %3 = dl.dot_general %1, %2 batch [] x [] contract [1] x [1] {dl.widened} : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %4 = dl.cast %3 : tensor<256x256xf32> to tensor<256x256xbf16>
    dl.yield %4 : tensor<256x256xbf16>
  }
  dl.yield %0 : tensor<256x256xbf16>
}

// -----

// Pointwise: memory is read and written as it is, arithmetic is f32, no library is called; LLVM sees that
// products of f16 round alike either way.
// CHECK-LABEL: gpu.func @pointwise_0(
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xi16>
// CHECK: arith.extf {{.*}} : vector<4xf16> to vector<4xf32>
// CHECK: arith.truncf {{.*}} : vector<4xf32> to vector<4xf16>
// CHECK: llvm.store {{.*}} : vector<4xi16>, !llvm.ptr<1>
// PTX-LABEL: .entry pointwise_0(
// PTX-NOT: call
// PTX: ld.global.nc
// PTX: mul.{{(rn.)?}}f16x2
// PTX: ret;
rt.kernel @pointwise workspace(0) {
^bb0(%x: tensor<4096xf16>):
  %0 = dl.group kind(pointwise) [4096] (%x1 = %x : tensor<4096xf16>) -> tensor<4096xf16> {
    %1 = dl.cast %x1 : tensor<4096xf16> to tensor<4096xf32>
    %2 = dl.mul %1, %1 : tensor<4096xf32>
    %3 = dl.cast %2 : tensor<4096xf32> to tensor<4096xf16>
    dl.yield %3 : tensor<4096xf16>
  }
  dl.yield %0 : tensor<4096xf16>
}
