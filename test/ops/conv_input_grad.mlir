// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @conv_input_grad(
// CHECK: dl.conv_input_grad %{{.*}}, %{{.*}} strides [2, 1] padding_lo [1, 0] padding_hi [0, 1] : (tensor<2x4x3x5xf32>, tensor<4x3x2x3xf32>) -> tensor<2x3x5x6xf32>
func.func @conv_input_grad(
    %dy: tensor<2x4x3x5xf32>,
    %w: tensor<4x3x2x3xf32>) -> tensor<2x3x5x6xf32>
    attributes {dl.check_gradient} {
  %y = dl.conv_input_grad %dy, %w strides [2, 1] padding_lo [1, 0] padding_hi [0, 1] : (tensor<2x4x3x5xf32>, tensor<4x3x2x3xf32>) -> tensor<2x3x5x6xf32>
  return %y : tensor<2x3x5x6xf32>
}

// GRAD-17, forward
func.func @transposed_convolution(
    %dy: tensor<1x1x1x2xf64> {dl.value = dense<[[[[1.0,2.0]]]]> : tensor<1x1x1x2xf64>},
    %w: tensor<1x1x1x1xf64> {dl.value = dense<[[[[3.0]]]]> : tensor<1x1x1x1xf64>}) -> tensor<1x1x1x3xf64>
    attributes {dl.expect = dense<[[[[3.0,0.0,6.0]]]]> : tensor<1x1x1x3xf64>, dl.check_gradient} {
  %y = dl.conv_input_grad %dy, %w strides [1, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>) -> tensor<1x1x1x3xf64>
  return %y : tensor<1x1x1x3xf64>
}

// GRAD-17, backward
func.func @transposed_convolution_gradient(
    %x: tensor<1x1x1x2xf64> {dl.value = dense<[[[[1.0,2.0]]]]> : tensor<1x1x1x2xf64>},
    %w: tensor<1x1x1x1xf64> {dl.value = dense<[[[[3.0]]]]> : tensor<1x1x1x1xf64>}) -> (tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>)
    attributes {dl.expect = [dense<[[[[4.5, 2.1]]]]> : tensor<1x1x1x2xf64>, dense<2.9> : tensor<1x1x1x1xf64>]} {
  %y = dl.conv_input_grad %x, %w strides [1, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>) -> tensor<1x1x1x3xf64>
  %dy = dl.constant dense<[[[[1.5, 0.0, 0.7]]]]> : tensor<1x1x1x3xf64>
  %p = dl.mul %y, %dy : tensor<1x1x1x3xf64>
  %s = dl.reduce_sum %p over [0, 1, 2, 3] : (tensor<1x1x1x3xf64>) -> tensor<f64>
  %g:2 = dl.gradient %s wrt %x, %w : tensor<f64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>
  return %g#0, %g#1 : tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>
}

func.func @size_first_layer(%dy: tensor<2x16x8x8xf32>, %w: tensor<16x1x3x3xf32>) -> tensor<2x1x8x8xf32> {
  %y = dl.conv_input_grad %dy, %w strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x16x8x8xf32>, tensor<16x1x3x3xf32>) -> tensor<2x1x8x8xf32>
  return %y : tensor<2x1x8x8xf32>
}

// About 300 to 400 products of up to 4 each: partial sums reach 30, and f32 rounds each by up to 2e-6, mostly cancelling.
func.func @size_inner_layer(%dy: tensor<2x33x9x11xf32>, %w: tensor<33x16x3x3xf32>) -> tensor<2x16x9x11xf32> attributes {dl.compiled_tolerance = 4.0e-5 : f64} {
  %y = dl.conv_input_grad %dy, %w strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x33x9x11xf32>, tensor<33x16x3x3xf32>) -> tensor<2x16x9x11xf32>
  return %y : tensor<2x16x9x11xf32>
}

func.func @size_strided(%dy: tensor<1x7x8x9xf32>, %w: tensor<7x5x5x4xf32>) -> tensor<1x5x17x20xf32> {
  %y = dl.conv_input_grad %dy, %w strides [2, 2] padding_lo [2, 0] padding_hi [1, 1] : (tensor<1x7x8x9xf32>, tensor<7x5x5x4xf32>) -> tensor<1x5x17x20xf32>
  return %y : tensor<1x5x17x20xf32>
}

func.func @size_one_by_one(%dy: tensor<1x18x5x7xf32>, %w: tensor<18x17x1x1xf32>) -> tensor<1x17x5x7xf32> {
  %y = dl.conv_input_grad %dy, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x18x5x7xf32>, tensor<18x17x1x1xf32>) -> tensor<1x17x5x7xf32>
  return %y : tensor<1x17x5x7xf32>
}

func.func @size_wide(%dy: tensor<1x3x1x68xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x2x3x70xf32> {
  %y = dl.conv_input_grad %dy, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x3x1x68xf32>, tensor<3x2x3x3xf32>) -> tensor<1x2x3x70xf32>
  return %y : tensor<1x2x3x70xf32>
}

func.func @size_vectors(%dy: tensor<2x65x4x6xf32>, %w: tensor<65x8x1x1xf32>) -> tensor<2x8x4x6xf32> {
  %y = dl.conv_input_grad %dy, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<2x65x4x6xf32>, tensor<65x8x1x1xf32>) -> tensor<2x8x4x6xf32>
  return %y : tensor<2x8x4x6xf32>
}

// Strides beyond the kernel: elements that no window holds.
func.func @size_gaps(%dy: tensor<2x17x5x4xf32>, %w: tensor<17x3x2x2xf32>) -> tensor<2x3x13x14xf32> {
  %y = dl.conv_input_grad %dy, %w strides [3, 4] padding_lo [0, 1] padding_hi [1, 0] : (tensor<2x17x5x4xf32>, tensor<17x3x2x2xf32>) -> tensor<2x3x13x14xf32>
  return %y : tensor<2x3x13x14xf32>
}

func.func @size_double(%dy: tensor<2x17x4x3xf64>, %w: tensor<17x16x3x4xf64>) -> tensor<2x16x7x9xf64> {
  %y = dl.conv_input_grad %dy, %w strides [2, 3] padding_lo [1, 0] padding_hi [2, 2] : (tensor<2x17x4x3xf64>, tensor<17x16x3x4xf64>) -> tensor<2x16x7x9xf64>
  return %y : tensor<2x16x7x9xf64>
}
