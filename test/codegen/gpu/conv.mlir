// RUN: dlc-opt %s --dlc-emit-gpu --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-emit-gpu --dlc-lower-gpu --split-input-file --dlc-print-ptx -o %t | FileCheck %s --check-prefix=PTX

// A convolution is a product of 32 output channels and 2 * 16 * 16 pixels over 16 * 3 * 3 terms: one launch, no copy of
// the images. A step has 16 channels at one tap, so that taps cost nothing in the thread; padding is a select.
// CHECK-LABEL: gpu.func @conv_0(
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 16, 1, 1>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: arith.cmpi ult
// CHECK: arith.select
// CHECK: math.fma
// CHECK: gpu.barrier
// CHECK: arith.addf
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT: gpu.func
// PTX-LABEL: .entry conv_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64}}
// PTX: ld.global.nc.b32
// PTX: st.shared
// PTX: bar.sync
// PTX-NOT: {{\.local|(div|rem)\.[us]64}}
// PTX: ld.shared.v4.b32
// PTX: fma.rn.f32
// PTX: bar.sync
// PTX-NOT: {{\.local|(div|rem)\.[us]64}}
// PTX: st.global.v4.b32
rt.kernel @conv workspace(0) {
^bb0(%x: tensor<2x16x16x16xf32>, %w: tensor<32x16x3x3xf32>, %b: tensor<32x1x1xf32>):
  %0 = dl.group kind(contract) [2, 32, 16, 16] (%x1 = %x : tensor<2x16x16x16xf32>, %w1 = %w : tensor<32x16x3x3xf32>, %b1 = %b : tensor<32x1x1xf32>) -> tensor<2x32x16x16xf32> {
    %1 = dl.conv %x1, %w1 strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x16x16x16xf32>, tensor<32x16x3x3xf32>) -> tensor<2x32x16x16xf32>
    %2 = dl.broadcast %b1 dims [1, 2, 3] : (tensor<32x1x1xf32>) -> tensor<2x32x16x16xf32>
    %3 = dl.add %1, %2 : tensor<2x32x16x16xf32>
    dl.yield %3 : tensor<2x32x16x16xf32>
  }
  dl.yield %0 : tensor<2x32x16x16xf32>
}

// -----

// Without padding and taps it is a plain product: vectors from global memory, no select.
// CHECK-LABEL: gpu.func @pointwise_0(
// CHECK-NOT: arith.select
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: arith.select
// CHECK: gpu.return
// PTX-LABEL: .entry pointwise_0(
// PTX-NOT: {{\.local|ld.global.nc.b32}}
// PTX: ret;
rt.kernel @pointwise workspace(0) {
^bb0(%x: tensor<2x64x16x16xf32>, %w: tensor<32x64x1x1xf32>):
  %0 = dl.group kind(contract) [2, 32, 16, 16] (%x1 = %x : tensor<2x64x16x16xf32>, %w1 = %w : tensor<32x64x1x1xf32>) -> tensor<2x32x16x16xf32> {
    %1 = dl.conv %x1, %w1 strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<2x64x16x16xf32>, tensor<32x64x1x1xf32>) -> tensor<2x32x16x16xf32>
    dl.yield %1 : tensor<2x32x16x16xf32>
  }
  dl.yield %0 : tensor<2x32x16x16xf32>
}

// -----

// The gradient by the input at stride 2: four products, one for each residue of the rows and columns, of the 2 x 2 taps
// that meet it.
// CHECK-LABEL: gpu.func @input_grad_0(
// CHECK-SAME: known_grid_size = array<i32: 16, 1, 1>
// CHECK: gpu.return
// CHECK-NOT: gpu.func
// PTX-LABEL: .entry input_grad_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|atom\.|red\.global}}
// PTX: ret;
rt.kernel @input_grad workspace(0) {
^bb0(%dy: tensor<2x32x8x8xf32>, %w: tensor<32x16x4x4xf32>):
  %0 = dl.group kind(contract) [2, 16, 16, 16] (%dy1 = %dy : tensor<2x32x8x8xf32>, %w1 = %w : tensor<32x16x4x4xf32>) -> tensor<2x16x16x16xf32> {
    %1 = dl.conv_input_grad %dy1, %w1 strides [2, 2] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x32x8x8xf32>, tensor<32x16x4x4xf32>) -> tensor<2x16x16x16xf32>
    dl.yield %1 : tensor<2x16x16x16xf32>
  }
  dl.yield %0 : tensor<2x16x16x16xf32>
}

// -----

// The gradient by the weight: 8 * 14 * 14 terms in 6 parts, added in order.
// CHECK-LABEL: gpu.func @weight_grad_0(
// CHECK-LABEL: gpu.func @weight_grad_1(
// CHECK: scf.for
// CHECK: arith.addf
// CHECK-NOT: gpu.func
// PTX-LABEL: .entry weight_grad_0(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|atom\.|red\.global}}
// PTX-LABEL: .entry weight_grad_1(
// PTX-NOT: {{\.local|(div|rem)\.[us]64|atom\.|red\.global}}
// PTX: ret;
rt.kernel @weight_grad workspace(27648) {
^bb0(%x: tensor<8x8x16x16xf32>, %dy: tensor<8x16x14x14xf32>):
  %0 = dl.group kind(contract) [16, 8, 3, 3] (%x1 = %x : tensor<8x8x16x16xf32>, %dy1 = %dy : tensor<8x16x14x14xf32>) -> tensor<16x8x3x3xf32> {
    %1 = dl.conv_weight_grad %x1, %dy1 strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<8x8x16x16xf32>, tensor<8x16x14x14xf32>) -> tensor<16x8x3x3xf32>
    dl.yield %1 : tensor<16x8x3x3xf32>
  }
  dl.yield %0 : tensor<16x8x3x3xf32>
}
