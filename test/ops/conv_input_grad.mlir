// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check %s

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
