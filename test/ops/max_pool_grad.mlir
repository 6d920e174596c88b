// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @max_pool_grad(
// CHECK: dl.max_pool_grad %{{.*}}, %{{.*}} kernel [3, 2] strides [2, 1] padding_lo [1, 0] padding_hi [1, 0] ceil_mode : (tensor<2x3x6x5xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x6x5xf32>
func.func @max_pool_grad(
    %x: tensor<2x3x6x5xf32> {dl.test = "distinct"},
    %dy: tensor<2x3x4x4xf32>) -> tensor<2x3x6x5xf32>
    attributes {dl.check_gradient = [1]} {
  %y = dl.max_pool_grad %x, %dy kernel [3, 2] strides [2, 1] padding_lo [1, 0] padding_hi [1, 0] ceil_mode : (tensor<2x3x6x5xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x6x5xf32>
  return %y : tensor<2x3x6x5xf32>
}

func.func @first_nan_wins(
    %x: tensor<1x1x1x4xf64> {dl.value = dense<[[[[1.0,0x7FF8000000000000,5.0,0x7FF8000000000000]]]]> : tensor<1x1x1x4xf64>}) -> tensor<1x1x1x4xf64>
    attributes {dl.expect = dense<[[[[0.0,2.0,0.0,0.0]]]]> : tensor<1x1x1x4xf64>} {
  %dy = dl.constant dense<2.0> : tensor<1x1x1x1xf64>
  %y = dl.max_pool_grad %x, %dy kernel [1, 4] strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x1x1x4xf64>, tensor<1x1x1x1xf64>) -> tensor<1x1x1x4xf64>
  return %y : tensor<1x1x1x4xf64>
}

func.func @size_digits(%x: tensor<3x16x8x8xf32>, %dy: tensor<3x16x4x4xf32>) -> tensor<3x16x8x8xf32> {
  %y = dl.max_pool_grad %x, %dy kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<3x16x8x8xf32>, tensor<3x16x4x4xf32>) -> tensor<3x16x8x8xf32>
  return %y : tensor<3x16x8x8xf32>
}

func.func @size_overlapping(%x: tensor<1x5x17x19xf32>, %dy: tensor<1x5x9x10xf32>) -> tensor<1x5x17x19xf32> {
  %y = dl.max_pool_grad %x, %dy kernel [3, 3] strides [2, 2] padding_lo [1, 1] padding_hi [1, 1] : (tensor<1x5x17x19xf32>, tensor<1x5x9x10xf32>) -> tensor<1x5x17x19xf32>
  return %y : tensor<1x5x17x19xf32>
}

// Windows and elements of them that are too many to write out.
func.func @size_many_windows(%x: tensor<2x3x13x11xf32>, %dy: tensor<2x3x13x10xf32>) -> tensor<2x3x13x11xf32> {
  %y = dl.max_pool_grad %x, %dy kernel [5, 4] strides [1, 1] padding_lo [2, 1] padding_hi [2, 1] : (tensor<2x3x13x11xf32>, tensor<2x3x13x10xf32>) -> tensor<2x3x13x11xf32>
  return %y : tensor<2x3x13x11xf32>
}
