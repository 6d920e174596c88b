// RUN: dlc compile %s --target=cuda:sm_90 --conv=library --emit=gpu -o %t.gpu.mlir 2> %t.remarks
// RUN: FileCheck %s < %t.gpu.mlir
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: dlc compile %t.gpu.mlir --target=cuda:sm_90 --emit=gpu | diff %t.gpu.mlir -
// RUN: dlc compile %s --target=cuda:sm_90 --emit=gpu | FileCheck %s --check-prefix=AUTO
// What the calls compute, of the library that stands in for the vendor's.
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLC_PTXAS=/nowhere dlc-check --libraries %s

// Small ones are generated unless asked for.
// AUTO-NOT: rt.library

// CHECK: rt.program @plain
// CHECK: rt.launch @[[PLAIN:k[0-9]+]]
func.func @plain(%x: tensor<2x3x9x8xf32>, %w: tensor<4x3x3x2xf32>) -> tensor<2x4x5x9xf32> attributes {dl.entry} {
  %0 = dl.conv %x, %w strides [2, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x3x9x8xf32>, tensor<4x3x3x2xf32>) -> tensor<2x4x5x9xf32>
  return %0 : tensor<2x4x5x9xf32>
}

// The call has no epilogue: a second launch reads its result from workspace.
// CHECK: rt.program @relu
// CHECK: rt.launch @[[RELU:k[0-9]+]]
func.func @relu(%x: tensor<2x3x8x8xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8xf32>) -> tensor<2x8x8x8xf32> attributes {dl.entry} {
  %0 = dl.conv %x, %w strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<2x8x8x8xf32>
  %1 = dl.broadcast %b dims [1] : (tensor<8xf32>) -> tensor<2x8x8x8xf32>
  %2 = dl.add %0, %1 : tensor<2x8x8x8xf32>
  %3 = dl.relu %2 : tensor<2x8x8x8xf32>
  return %3 : tensor<2x8x8x8xf32>
}

// CHECK: rt.program @gradients
// CHECK: rt.launch @[[INPUT:k[0-9]+]]
// CHECK: rt.launch @[[WEIGHT:k[0-9]+]]
func.func @gradients(%x: tensor<2x5x8x8xf32>, %w: tensor<4x5x3x3xf32>, %dy: tensor<2x4x4x4xf32>) -> (tensor<2x5x8x8xf32>, tensor<4x5x3x3xf32>) attributes {dl.entry} {
  %0 = dl.conv_input_grad %dy, %w strides [2, 2] padding_lo [1, 1] padding_hi [0, 0] : (tensor<2x4x4x4xf32>, tensor<4x5x3x3xf32>) -> tensor<2x5x8x8xf32>
  %1 = dl.conv_weight_grad %x, %dy strides [2, 2] padding_lo [1, 1] padding_hi [0, 0] : (tensor<2x5x8x8xf32>, tensor<2x4x4x4xf32>) -> tensor<4x5x3x3xf32>
  return %0, %1 : tensor<2x5x8x8xf32>, tensor<4x5x3x3xf32>
}

// Zeros behind that no window reaches may be as many as those before. All tensors of a call have one type.
// CHECK-DAG: rt.library @[[PLAIN]]_0 call #rt.conv<kind = forward, element = f32, input = <operand = 0, offset = 0, extents = [2, 3, 9, 8], strides = [216, 72, 8, 1]>, weight = <operand = 1, offset = 0, extents = [4, 3, 3, 2], strides = [18, 6, 2, 1]>, output = <operand = 2, offset = 0, extents = [2, 4, 5, 9], strides = [180, 45, 9, 1]>, strides = [2, 1], padding = [1, 1], dilation = [1, 1]> workspace(3, at 0, 1048576)
// CHECK-DAG: rt.library @[[RELU]]_0 {{.*}}output = <operand = 4, {{.*}} workspace(4, at 4096, 1048576)
// CHECK-DAG: gpu.func @[[RELU]]_1(
// CHECK-DAG: rt.library @[[INPUT]]_0 call #rt.conv<kind = input_grad, element = f32, input = <operand = 2, {{.*}}weight = <operand = 1, {{.*}}output = <operand = 0, {{.*}}strides = [2, 2], padding = [1, 1]
// CHECK-DAG: rt.library @[[WEIGHT]]_0 call #rt.conv<kind = weight_grad, element = f32, input = <operand = 0, {{.*}}weight = <operand = 2, {{.*}}output = <operand = 1,

// REMARK: conv.mlir:[[#@LINE+2]]:{{[0-9]+}}: remark: a generated kernel, since no library has a call for padding that differs on both sides
func.func @one_side(%x: tensor<2x3x8x8xf32>, %w: tensor<12x3x3x3xf32>) -> tensor<2x12x8x8xf32> attributes {dl.entry} {
  %0 = dl.conv %x, %w strides [1, 1] padding_lo [2, 2] padding_hi [0, 0] : (tensor<2x3x8x8xf32>, tensor<12x3x3x3xf32>) -> tensor<2x12x8x8xf32>
  return %0 : tensor<2x12x8x8xf32>
}
