// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @conv(
// CHECK: dl.conv %{{.*}}, %{{.*}} strides [2, 1] padding_lo [1, 0] padding_hi [0, 1] : (tensor<2x3x5x6xf32>, tensor<4x3x2x3xf32>) -> tensor<2x4x3x5xf32>
func.func @conv(
    %x: tensor<2x3x5x6xf32>,
    %w: tensor<4x3x2x3xf32>) -> tensor<2x4x3x5xf32>
    attributes {dl.check_gradient} {
  %y = dl.conv %x, %w strides [2, 1] padding_lo [1, 0] padding_hi [0, 1] : (tensor<2x3x5x6xf32>, tensor<4x3x2x3xf32>) -> tensor<2x4x3x5xf32>
  return %y : tensor<2x4x3x5xf32>
}

func.func @values(
    %x: tensor<1x1x3x3xf64> {dl.value = dense<[[[[1.0,2.0,3.0],[4.0,5.0,6.0],[7.0,8.0,9.0]]]]> : tensor<1x1x3x3xf64>},
    %w: tensor<1x1x2x2xf64> {dl.value = dense<[[[[1.0,0.0],[0.0,-1.0]]]]> : tensor<1x1x2x2xf64>}) -> tensor<1x1x2x2xf64>
    attributes {dl.expect = dense<-4.0> : tensor<1x1x2x2xf64>, dl.check_gradient} {
  %y = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x1x3x3xf64>, tensor<1x1x2x2xf64>) -> tensor<1x1x2x2xf64>
  return %y : tensor<1x1x2x2xf64>
}

func.func @padded(
    %x: tensor<1x1x2x2xf64> {dl.value = dense<[[[[1.0,2.0],[3.0,4.0]]]]> : tensor<1x1x2x2xf64>},
    %w: tensor<1x1x3x3xf64> {dl.value = dense<1.0> : tensor<1x1x3x3xf64>}) -> tensor<1x1x2x2xf64>
    attributes {dl.expect = dense<10.0> : tensor<1x1x2x2xf64>, dl.check_gradient} {
  %y = dl.conv %x, %w strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<1x1x2x2xf64>, tensor<1x1x3x3xf64>) -> tensor<1x1x2x2xf64>
  return %y : tensor<1x1x2x2xf64>
}

func.func @unused_rows(
    %x: tensor<1x2x6x5xf64>,
    %w: tensor<2x2x2x2xf64>) -> tensor<1x2x2x2xf64>
    attributes {dl.check_gradient} {
  %y = dl.conv %x, %w strides [3, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x6x5xf64>, tensor<2x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  return %y : tensor<1x2x2x2xf64>
}

func.func @empty_batch(
    %x: tensor<0x2x4x4xf64>,
    %w: tensor<3x2x3x3xf64>) -> tensor<0x3x2x2xf64>
    attributes {dl.check_gradient} {
  %y = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<0x2x4x4xf64>, tensor<3x2x3x3xf64>) -> tensor<0x3x2x2xf64>
  return %y : tensor<0x3x2x2xf64>
}

func.func @second_order(
    %x: tensor<1x2x3x3xf64>,
    %w: tensor<2x2x2x2xf64>) -> (tensor<1x2x3x3xf64>, tensor<2x2x2x2xf64>)
    attributes {dl.check_gradient} {
  %y = dl.conv %x, %w strides [1, 2] padding_lo [1, 0] padding_hi [0, 1] : (tensor<1x2x3x3xf64>, tensor<2x2x2x2xf64>) -> tensor<1x2x3x2xf64>
  %y2 = dl.mul %y, %y : tensor<1x2x3x2xf64>
  %s = dl.reduce_sum %y2 over [0, 1, 2, 3] : (tensor<1x2x3x2xf64>) -> tensor<f64>
  %g:2 = dl.gradient %s wrt %x, %w : tensor<f64>, tensor<1x2x3x3xf64>, tensor<2x2x2x2xf64>
  return %g#0, %g#1 : tensor<1x2x3x3xf64>, tensor<2x2x2x2xf64>
}

func.func @size_first_layer(%x: tensor<2x1x8x8xf32>, %w: tensor<16x1x3x3xf32>) -> tensor<2x16x8x8xf32> {
  %y = dl.conv %x, %w strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x1x8x8xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x8x8xf32>
  return %y : tensor<2x16x8x8xf32>
}

func.func @size_inner_layer(%x: tensor<2x16x9x11xf32>, %w: tensor<33x16x3x3xf32>) -> tensor<2x33x9x11xf32> {
  %y = dl.conv %x, %w strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x16x9x11xf32>, tensor<33x16x3x3xf32>) -> tensor<2x33x9x11xf32>
  return %y : tensor<2x33x9x11xf32>
}

func.func @size_strided(%x: tensor<1x5x17x20xf32>, %w: tensor<7x5x5x4xf32>) -> tensor<1x7x8x9xf32> {
  %y = dl.conv %x, %w strides [2, 2] padding_lo [2, 0] padding_hi [1, 1] : (tensor<1x5x17x20xf32>, tensor<7x5x5x4xf32>) -> tensor<1x7x8x9xf32>
  return %y : tensor<1x7x8x9xf32>
}

func.func @size_one_by_one(%x: tensor<1x17x5x7xf32>, %w: tensor<18x17x1x1xf32>) -> tensor<1x18x5x7xf32> {
  %y = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x17x5x7xf32>, tensor<18x17x1x1xf32>) -> tensor<1x18x5x7xf32>
  return %y : tensor<1x18x5x7xf32>
}

func.func @size_wide(%x: tensor<1x2x3x70xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x1x68xf32> {
  %y = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x3x70xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x1x68xf32>
  return %y : tensor<1x3x1x68xf32>
}

func.func @size_vectors(%x: tensor<2x8x4x6xf32>, %w: tensor<65x8x1x1xf32>) -> tensor<2x65x4x6xf32> {
  %y = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<2x8x4x6xf32>, tensor<65x8x1x1xf32>) -> tensor<2x65x4x6xf32>
  return %y : tensor<2x65x4x6xf32>
}

// Strides beyond the kernel: elements that no window holds.
func.func @size_gaps(%x: tensor<2x3x13x14xf32>, %w: tensor<17x3x2x2xf32>) -> tensor<2x17x5x4xf32> {
  %y = dl.conv %x, %w strides [3, 4] padding_lo [0, 1] padding_hi [1, 0] : (tensor<2x3x13x14xf32>, tensor<17x3x2x2xf32>) -> tensor<2x17x5x4xf32>
  return %y : tensor<2x17x5x4xf32>
}

func.func @size_double(%x: tensor<2x16x7x9xf64>, %w: tensor<17x16x3x4xf64>) -> tensor<2x17x4x3xf64> {
  %y = dl.conv %x, %w strides [2, 3] padding_lo [1, 0] padding_hi [2, 2] : (tensor<2x16x7x9xf64>, tensor<17x16x3x4xf64>) -> tensor<2x17x4x3xf64>
  return %y : tensor<2x17x4x3xf64>
}
