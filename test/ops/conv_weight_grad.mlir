// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check %s

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
