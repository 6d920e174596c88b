// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @conv_weight_grad(
// CHECK: dl.conv_weight_grad %{{.*}}, %{{.*}} strides [2, 1] padding_lo [1, 0] padding_hi [0, 1] : (tensor<2x3x5x6xf32>, tensor<2x4x3x5xf32>) -> tensor<4x3x2x3xf32>
func.func @conv_weight_grad(
    %x: tensor<2x3x5x6xf32>,
    %dy: tensor<2x4x3x5xf32>) -> tensor<4x3x2x3xf32>
    attributes {dl.check_gradient} {
  %y = dl.conv_weight_grad %x, %dy strides [2, 1] padding_lo [1, 0] padding_hi [0, 1] : (tensor<2x3x5x6xf32>, tensor<2x4x3x5xf32>) -> tensor<4x3x2x3xf32>
  return %y : tensor<4x3x2x3xf32>
}

func.func @values(
    %x: tensor<1x1x2x3xf64> {dl.value = dense<[[[[1.0,2.0,3.0],[4.0,5.0,6.0]]]]> : tensor<1x1x2x3xf64>},
    %dy: tensor<1x1x1x2xf64> {dl.value = dense<[[[[1.0,10.0]]]]> : tensor<1x1x1x2xf64>}) -> tensor<1x1x2x2xf64>
    attributes {dl.expect = dense<[[[[21.0,32.0],[54.0,65.0]]]]> : tensor<1x1x2x2xf64>, dl.check_gradient} {
  %y = dl.conv_weight_grad %x, %dy strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x1x2x3xf64>, tensor<1x1x1x2xf64>) -> tensor<1x1x2x2xf64>
  return %y : tensor<1x1x2x2xf64>
}

func.func @size_first_layer(%x: tensor<2x1x8x8xf32>, %dy: tensor<2x16x8x8xf32>) -> tensor<16x1x3x3xf32> {
  %y = dl.conv_weight_grad %x, %dy strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x1x8x8xf32>, tensor<2x16x8x8xf32>) -> tensor<16x1x3x3xf32>
  return %y : tensor<16x1x3x3xf32>
}

// About 300 to 400 products of up to 4 each: partial sums reach 30, and f32 rounds each by up to 2e-6, mostly cancelling.
func.func @size_inner_layer(%x: tensor<2x16x9x11xf32>, %dy: tensor<2x33x9x11xf32>) -> tensor<33x16x3x3xf32> attributes {dl.compiled_tolerance = 4.0e-5 : f64} {
  %y = dl.conv_weight_grad %x, %dy strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x16x9x11xf32>, tensor<2x33x9x11xf32>) -> tensor<33x16x3x3xf32>
  return %y : tensor<33x16x3x3xf32>
}

func.func @size_strided(%x: tensor<1x5x17x20xf32>, %dy: tensor<1x7x8x9xf32>) -> tensor<7x5x5x4xf32> {
  %y = dl.conv_weight_grad %x, %dy strides [2, 2] padding_lo [2, 0] padding_hi [1, 1] : (tensor<1x5x17x20xf32>, tensor<1x7x8x9xf32>) -> tensor<7x5x5x4xf32>
  return %y : tensor<7x5x5x4xf32>
}

func.func @size_one_by_one(%x: tensor<1x17x5x7xf32>, %dy: tensor<1x18x5x7xf32>) -> tensor<18x17x1x1xf32> {
  %y = dl.conv_weight_grad %x, %dy strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x17x5x7xf32>, tensor<1x18x5x7xf32>) -> tensor<18x17x1x1xf32>
  return %y : tensor<18x17x1x1xf32>
}

func.func @size_wide(%x: tensor<1x2x3x70xf32>, %dy: tensor<1x3x1x68xf32>) -> tensor<3x2x3x3xf32> {
  %y = dl.conv_weight_grad %x, %dy strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x3x70xf32>, tensor<1x3x1x68xf32>) -> tensor<3x2x3x3xf32>
  return %y : tensor<3x2x3x3xf32>
}

func.func @size_vectors(%x: tensor<2x8x4x6xf32>, %dy: tensor<2x65x4x6xf32>) -> tensor<65x8x1x1xf32> {
  %y = dl.conv_weight_grad %x, %dy strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<2x8x4x6xf32>, tensor<2x65x4x6xf32>) -> tensor<65x8x1x1xf32>
  return %y : tensor<65x8x1x1xf32>
}

// Strides beyond the kernel: elements that no window holds.
func.func @size_gaps(%x: tensor<2x3x13x14xf32>, %dy: tensor<2x17x5x4xf32>) -> tensor<17x3x2x2xf32> {
  %y = dl.conv_weight_grad %x, %dy strides [3, 4] padding_lo [0, 1] padding_hi [1, 0] : (tensor<2x3x13x14xf32>, tensor<2x17x5x4xf32>) -> tensor<17x3x2x2xf32>
  return %y : tensor<17x3x2x2xf32>
}

func.func @size_double(%x: tensor<2x16x7x9xf64>, %dy: tensor<2x17x4x3xf64>) -> tensor<17x16x3x4xf64> {
  %y = dl.conv_weight_grad %x, %dy strides [2, 3] padding_lo [1, 0] padding_hi [2, 2] : (tensor<2x16x7x9xf64>, tensor<2x17x4x3xf64>) -> tensor<17x16x3x4xf64>
  return %y : tensor<17x16x3x4xf64>
}

// Terms in parts on GPUs. 1024 products of up to 4 each.
func.func @size_parts(%x: tensor<4x3x16x16xf32>, %dy: tensor<4x5x16x16xf32>) -> tensor<5x3x3x3xf32> attributes {dl.compiled_tolerance = 1.0e-4 : f64} {
  %y = dl.conv_weight_grad %x, %dy strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<4x3x16x16xf32>, tensor<4x5x16x16xf32>) -> tensor<5x3x3x3xf32>
  return %y : tensor<5x3x3x3xf32>
}

// Images in leaves of two, the third one shorter, the fourth empty.
func.func @leaves(%x: tensor<5x3x6x5xf32>, %dy: tensor<5x2x6x5xf32>) -> tensor<2x3x3x3xf32> {
  %y = dl.conv_weight_grad %x, %dy strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] leaves(4) : (tensor<5x3x6x5xf32>, tensor<5x2x6x5xf32>) -> tensor<2x3x3x3xf32>
  return %y : tensor<2x3x3x3xf32>
}
