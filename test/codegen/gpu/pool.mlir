// RUN: dlc-opt %s --dlc-emit-gpu --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-emit-gpu --dlc-lower-gpu --split-input-file --dlc-print-ptx -o %t | FileCheck %s --check-prefix=PTX

// One thread a window.
// CHECK-LABEL: gpu.func @max_0(
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 3, 1, 1>
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK-NOT: llvm.load
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// PTX-LABEL: .entry max_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64}}
// PTX: ret;
rt.kernel @max workspace(0) {
^bb0(%x: tensor<2x8x12x12xf32>):
  %0 = dl.group kind(window) [2, 8, 6, 6] (%x1 = %x : tensor<2x8x12x12xf32>) -> tensor<2x8x6x6xf32> {
    %1 = dl.max_pool %x1 kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<2x8x12x12xf32>) -> tensor<2x8x6x6xf32>
    dl.yield %1 : tensor<2x8x6x6xf32>
  }
  dl.yield %0 : tensor<2x8x6x6xf32>
}

// -----

// One thread an element of x: its window's maximum is found again.
// CHECK-LABEL: gpu.func @max_grad_0(
// CHECK-SAME: known_grid_size = array<i32: 9, 1, 1>
// CHECK-COUNT-5: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK-NOT: llvm.load
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// CHECK-NOT: gpu.func
// PTX-LABEL: .entry max_grad_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|atom\.|red\.global}}
// PTX: ret;
rt.kernel @max_grad workspace(0) {
^bb0(%x: tensor<2x8x12x12xf32>, %dy: tensor<2x8x6x6xf32>):
  %0 = dl.group kind(window) [2, 8, 12, 12] (%x1 = %x : tensor<2x8x12x12xf32>, %dy1 = %dy : tensor<2x8x6x6xf32>) -> tensor<2x8x12x12xf32> {
    %1 = dl.max_pool_grad %x1, %dy1 kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<2x8x12x12xf32>, tensor<2x8x6x6xf32>) -> tensor<2x8x12x12xf32>
    dl.yield %1 : tensor<2x8x12x12xf32>
  }
  dl.yield %0 : tensor<2x8x12x12xf32>
}

// -----

// Overlapping windows: positions of the maxima first, then four of them for each element.
// CHECK-LABEL: gpu.func @overlapping_0(
// CHECK: llvm.store %{{.*}} : i32, !llvm.ptr<1>
// CHECK-LABEL: gpu.func @overlapping_1(
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK-NOT: -> i32
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// PTX-LABEL: .entry overlapping_0(
// PTX-LABEL: .entry overlapping_1(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|atom\.|red\.global}}
// PTX: ret;
rt.kernel @overlapping workspace(2304) {
^bb0(%x: tensor<2x8x12x12xf32>, %dy: tensor<2x8x6x6xf32>):
  %0 = dl.group kind(window) [2, 8, 12, 12] (%x1 = %x : tensor<2x8x12x12xf32>, %dy1 = %dy : tensor<2x8x6x6xf32>) -> tensor<2x8x12x12xf32> {
    %1 = dl.max_pool_grad %x1, %dy1 kernel [3, 3] strides [2, 2] padding_lo [1, 1] padding_hi [0, 0] : (tensor<2x8x12x12xf32>, tensor<2x8x6x6xf32>) -> tensor<2x8x12x12xf32>
    dl.yield %1 : tensor<2x8x12x12xf32>
  }
  dl.yield %0 : tensor<2x8x12x12xf32>
}

// -----

// 25 windows hold an element: two loops.
// CHECK-LABEL: gpu.func @avg_grad_0(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.divf
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// PTX-LABEL: .entry avg_grad_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|atom\.|red\.global}}
// PTX: div.rn.f32
rt.kernel @avg_grad workspace(0) {
^bb0(%dy: tensor<2x8x12x12xf32>):
  %0 = dl.group kind(window) [2, 8, 12, 12] (%dy1 = %dy : tensor<2x8x12x12xf32>) -> tensor<2x8x12x12xf32> {
    %1 = dl.avg_pool_grad %dy1 kernel [5, 5] strides [1, 1] padding_lo [2, 2] padding_hi [2, 2] : (tensor<2x8x12x12xf32>) -> tensor<2x8x12x12xf32>
    dl.yield %1 : tensor<2x8x12x12xf32>
  }
  dl.yield %0 : tensor<2x8x12x12xf32>
}
