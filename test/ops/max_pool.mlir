// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @max_pool(
// CHECK: dl.max_pool %{{.*}} kernel [3, 2] strides [2, 1] padding_lo [1, 0] padding_hi [1, 0] ceil_mode : (tensor<2x3x6x5xf32>) -> tensor<2x3x4x4xf32>
func.func @max_pool(
    %x: tensor<2x3x6x5xf32> {dl.test = "distinct"}) -> tensor<2x3x4x4xf32>
    attributes {dl.check_gradient} {
  %y = dl.max_pool %x kernel [3, 2] strides [2, 1] padding_lo [1, 0] padding_hi [1, 0] ceil_mode : (tensor<2x3x6x5xf32>) -> tensor<2x3x4x4xf32>
  return %y : tensor<2x3x4x4xf32>
}

// GRAD-01
func.func @overlapping(
    %x: tensor<1x1x3x3xf64> {dl.value = dense<[[[[1.0,2.0,3.0],[4.0,9.0,5.0],[6.0,7.0,8.0]]]]> : tensor<1x1x3x3xf64>}) -> tensor<1x1x2x2xf64>
    attributes {dl.expect = dense<9.0> : tensor<1x1x2x2xf64>, dl.check_gradient} {
  %y = dl.max_pool %x kernel [2, 2] strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x1x3x3xf64>) -> tensor<1x1x2x2xf64>
  return %y : tensor<1x1x2x2xf64>
}

// GRAD-01
func.func @overlapping_gradient(
    %x: tensor<1x1x3x3xf64> {dl.value = dense<[[[[1.0,2.0,3.0],[4.0,9.0,5.0],[6.0,7.0,8.0]]]]> : tensor<1x1x3x3xf64>}) -> tensor<1x1x3x3xf64>
    attributes {dl.expect = dense<[[[[0.0,0.0,0.0],[0.0,4.0,0.0],[0.0,0.0,0.0]]]]> : tensor<1x1x3x3xf64>} {
  %y = dl.max_pool %x kernel [2, 2] strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x1x3x3xf64>) -> tensor<1x1x2x2xf64>
  %s = dl.reduce_sum %y over [0, 1, 2, 3] : (tensor<1x1x2x2xf64>) -> tensor<f64>
  %g = dl.gradient %s wrt %x : tensor<f64>, tensor<1x1x3x3xf64>
  return %g : tensor<1x1x3x3xf64>
}

func.func @padding_is_no_zero(
    %x: tensor<1x1x2x2xf64> {dl.value = dense<[[[[-1.0,-2.0],[-3.0,-4.0]]]]> : tensor<1x1x2x2xf64>}) -> tensor<1x1x2x2xf64>
    attributes {dl.expect = dense<[[[[-1.0,-2.0],[-3.0,-4.0]]]]> : tensor<1x1x2x2xf64>, dl.check_gradient} {
  %y = dl.max_pool %x kernel [2, 2] strides [2, 2] padding_lo [1, 1] padding_hi [1, 1] : (tensor<1x1x2x2xf64>) -> tensor<1x1x2x2xf64>
  return %y : tensor<1x1x2x2xf64>
}

// NUM-05
func.func @nan_wins(
    %x: tensor<1x1x2x3xf64> {dl.value = dense<[[[[1.0,0x7FF8000000000000,3.0],[4.0,5.0,6.0]]]]> : tensor<1x1x2x3xf64>}) -> tensor<1x1x1x2xf64>
    attributes {dl.expect = dense<0x7FF8000000000000> : tensor<1x1x1x2xf64>} {
  %y = dl.max_pool %x kernel [2, 2] strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x1x2x3xf64>) -> tensor<1x1x1x2xf64>
  return %y : tensor<1x1x1x2xf64>
}

func.func @ties_go_to_the_first(
    %x: tensor<1x1x2x2xf64> {dl.value = dense<1.0> : tensor<1x1x2x2xf64>}) -> tensor<1x1x2x2xf64>
    attributes {dl.expect = dense<[[[[1.0,0.0],[0.0,0.0]]]]> : tensor<1x1x2x2xf64>} {
  %y = dl.max_pool %x kernel [2, 2] strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x1x2x2xf64>) -> tensor<1x1x1x1xf64>
  %s = dl.reduce_sum %y over [0, 1, 2, 3] : (tensor<1x1x1x1xf64>) -> tensor<f64>
  %g = dl.gradient %s wrt %x : tensor<f64>, tensor<1x1x2x2xf64>
  return %g : tensor<1x1x2x2xf64>
}

func.func @only_minus_infinity_in_padding(
    %x: tensor<1x1x2x2xf64> {dl.value = dense<0xFFF0000000000000> : tensor<1x1x2x2xf64>}) -> tensor<1x1x2x2xf64>
    attributes {dl.expect = dense<1.0> : tensor<1x1x2x2xf64>} {
  %y = dl.max_pool %x kernel [2, 2] strides [2, 2] padding_lo [1, 1] padding_hi [1, 1] : (tensor<1x1x2x2xf64>) -> tensor<1x1x2x2xf64>
  %s = dl.reduce_sum %y over [0, 1, 2, 3] : (tensor<1x1x2x2xf64>) -> tensor<f64>
  %g = dl.gradient %s wrt %x : tensor<f64>, tensor<1x1x2x2xf64>
  return %g : tensor<1x1x2x2xf64>
}

func.func @second_order(
    %x: tensor<1x2x4x5xf64> {dl.test = "distinct"}) -> tensor<1x2x4x5xf64>
    attributes {dl.check_gradient} {
  %y = dl.max_pool %x kernel [2, 3] strides [2, 2] padding_lo [1, 1] padding_hi [1, 0] : (tensor<1x2x4x5xf64>) -> tensor<1x2x3x2xf64>
  %y2 = dl.mul %y, %y : tensor<1x2x3x2xf64>
  %s = dl.reduce_sum %y2 over [0, 1, 2, 3] : (tensor<1x2x3x2xf64>) -> tensor<f64>
  %g = dl.gradient %s wrt %x : tensor<f64>, tensor<1x2x4x5xf64>
  return %g : tensor<1x2x4x5xf64>
}

func.func @second_order_ceil(
    %x: tensor<1x1x5x4xf64> {dl.test = "distinct"}) -> tensor<1x1x5x4xf64>
    attributes {dl.check_gradient} {
  %y = dl.max_pool %x kernel [3, 2] strides [2, 2] padding_lo [1, 0] padding_hi [0, 0] ceil_mode : (tensor<1x1x5x4xf64>) -> tensor<1x1x3x2xf64>
  %y2 = dl.mul %y, %y : tensor<1x1x3x2xf64>
  %s = dl.reduce_sum %y2 over [0, 1, 2, 3] : (tensor<1x1x3x2xf64>) -> tensor<f64>
  %g = dl.gradient %s wrt %x : tensor<f64>, tensor<1x1x5x4xf64>
  return %g : tensor<1x1x5x4xf64>
}

func.func @size_digits(%x: tensor<3x16x8x8xf32>) -> tensor<3x16x4x4xf32> {
  %y = dl.max_pool %x kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<3x16x8x8xf32>) -> tensor<3x16x4x4xf32>
  return %y : tensor<3x16x4x4xf32>
}

func.func @size_overlapping(%x: tensor<1x5x17x19xf32>) -> tensor<1x5x9x10xf32> {
  %y = dl.max_pool %x kernel [3, 3] strides [2, 2] padding_lo [1, 1] padding_hi [1, 1] : (tensor<1x5x17x19xf32>) -> tensor<1x5x9x10xf32>
  return %y : tensor<1x5x9x10xf32>
}

// Windows and elements of them that are too many to write out.
func.func @size_many_windows(%x: tensor<2x3x13x11xf32>) -> tensor<2x3x13x10xf32> {
  %y = dl.max_pool %x kernel [5, 4] strides [1, 1] padding_lo [2, 1] padding_hi [2, 1] : (tensor<2x3x13x11xf32>) -> tensor<2x3x13x10xf32>
  return %y : tensor<2x3x13x10xf32>
}
