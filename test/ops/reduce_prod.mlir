// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @reduce_prod(
// CHECK: dl.reduce_prod %{{.*}} over [0, 2] : (tensor<3x4x5xf32>) -> tensor<4xf32>
func.func @reduce_prod(
    %x: tensor<3x4x5xf32> {dl.test = "range:0.5:1.5"}) -> tensor<4xf32>
    attributes {dl.check_gradient} {
  %y = dl.reduce_prod %x over [0, 2] : (tensor<3x4x5xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @values(
    %x: tensor<2x3xf64> {dl.value = dense<[[1.0,2.0,3.0],[4.0,0.0,6.0]]> : tensor<2x3xf64>}) -> tensor<2xf64>
    attributes {dl.expect = dense<[6.0,0.0]> : tensor<2xf64>, dl.check_gradient} {
  %y = dl.reduce_prod %x over [1] : (tensor<2x3xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

// SHAPE-01
func.func @empty_axis(
    %x: tensor<2x0xf64> {dl.value = dense<> : tensor<2x0xf64>}) -> tensor<2xf64>
    attributes {dl.expect = dense<1.0> : tensor<2xf64>} {
  %y = dl.reduce_prod %x over [1] : (tensor<2x0xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

// Longer than one reduction takes.
func.func @long_row(%x: tensor<70xf64> {dl.test = "range:0.9:1.1"}) -> tensor<f64> attributes {dl.check_gradient} {
  %y = dl.reduce_prod %x over [0] : (tensor<70xf64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @long_row_at_its_edges(
    %x: tensor<2x65xf64> {dl.test = "range:0.9:1.1"}) -> tensor<2xf64>
    attributes {dl.check_gradient} {
  %y = dl.reduce_prod %x over [1] : (tensor<2x65xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @second_order(%x: tensor<4x2xf64> {dl.test = "any"}) -> tensor<4x2xf64> attributes {dl.check_gradient} {
  %y = dl.reduce_prod %x over [0] : (tensor<4x2xf64>) -> tensor<2xf64>
  %y2 = dl.mul %y, %y : tensor<2xf64>
  %s = dl.reduce_sum %y2 over [0] : (tensor<2xf64>) -> tensor<f64>
  %g = dl.gradient %s wrt %x : tensor<f64>, tensor<4x2xf64>
  return %g : tensor<4x2xf64>
}

// GRAD-09
func.func @one_zero(
    %x: tensor<3xf64> {dl.value = dense<[0.0,4.0,5.0]> : tensor<3xf64>}) -> tensor<3xf64>
    attributes {dl.expect = dense<[20.0,0.0,0.0]> : tensor<3xf64>} {
  %y = dl.reduce_prod %x over [0] : (tensor<3xf64>) -> tensor<f64>
  %g = dl.gradient %y wrt %x : tensor<f64>, tensor<3xf64>
  return %g : tensor<3xf64>
}

// GRAD-09
func.func @two_zeros(
    %x: tensor<3xf64> {dl.value = dense<[0.0,0.0,5.0]> : tensor<3xf64>}) -> tensor<3xf64>
    attributes {dl.expect = dense<[0.0,0.0,0.0]> : tensor<3xf64>} {
  %y = dl.reduce_prod %x over [0] : (tensor<3xf64>) -> tensor<f64>
  %g = dl.gradient %y wrt %x : tensor<f64>, tensor<3xf64>
  return %g : tensor<3xf64>
}

// GRAD-09
func.func @zero_inside(
    %x: tensor<3xf64> {dl.value = dense<[2.0,0.0,7.0]> : tensor<3xf64>}) -> tensor<3xf64>
    attributes {dl.expect = dense<[0.0,14.0,0.0]> : tensor<3xf64>} {
  %y = dl.reduce_prod %x over [0] : (tensor<3xf64>) -> tensor<f64>
  %g = dl.gradient %y wrt %x : tensor<f64>, tensor<3xf64>
  return %g : tensor<3xf64>
}

func.func @infinity_beside_zero(
    %x: tensor<3xf64> {dl.value = dense<[0.0,0x7FF0000000000000,5.0]> : tensor<3xf64>}) -> tensor<3xf64>
    attributes {dl.expect = dense<[0x7FF0000000000000,0.0,0x7FF8000000000000]> : tensor<3xf64>} {
  %y = dl.reduce_prod %x over [0] : (tensor<3xf64>) -> tensor<f64>
  %g = dl.gradient %y wrt %x : tensor<f64>, tensor<3xf64>
  return %g : tensor<3xf64>
}

func.func @size_row_of_one(%x: tensor<3x1xf32> {dl.test = "range:0.9:1.1"}) -> tensor<3xf32> {
  %y = dl.reduce_prod %x over [1] : (tensor<3x1xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_rows_of_17(%x: tensor<5x17xf32> {dl.test = "range:0.9:1.1"}) -> tensor<5xf32> {
  %y = dl.reduce_prod %x over [1] : (tensor<5x17xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

func.func @size_rows_of_100(%x: tensor<7x100xf32> {dl.test = "range:0.9:1.1"}) -> tensor<7xf32> {
  %y = dl.reduce_prod %x over [1] : (tensor<7x100xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

func.func @size_two_inner_axes(%x: tensor<3x9x11xf32> {dl.test = "range:0.9:1.1"}) -> tensor<3xf32> {
  %y = dl.reduce_prod %x over [1, 2] : (tensor<3x9x11xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_everything(%x: tensor<37x53xf32> {dl.test = "range:0.9:1.1"}) -> tensor<f32> {
  %y = dl.reduce_prod %x over [0, 1] : (tensor<37x53xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

func.func @size_column(%x: tensor<300x17xf32> {dl.test = "range:0.9:1.1"}) -> tensor<17xf32> {
  %y = dl.reduce_prod %x over [0] : (tensor<300x17xf32>) -> tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @size_leading_axes(%x: tensor<5x3x70xf32> {dl.test = "range:0.9:1.1"}) -> tensor<3xf32> {
  %y = dl.reduce_prod %x over [0, 2] : (tensor<5x3x70xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_middle_axis(%x: tensor<3x19x18xf32> {dl.test = "range:0.9:1.1"}) -> tensor<3x18xf32> {
  %y = dl.reduce_prod %x over [1] : (tensor<3x19x18xf32>) -> tensor<3x18xf32>
  return %y : tensor<3x18xf32>
}

func.func @size_i8(%x: tensor<3x70xi8>) -> tensor<3xi8> {
  %y = dl.reduce_prod %x over [1] : (tensor<3x70xi8>) -> tensor<3xi8>
  return %y : tensor<3xi8>
}

func.func @size_i32(%x: tensor<3x70xi32>) -> tensor<3xi32> {
  %y = dl.reduce_prod %x over [1] : (tensor<3x70xi32>) -> tensor<3xi32>
  return %y : tensor<3xi32>
}

func.func @size_i64(%x: tensor<3x70xi64>) -> tensor<3xi64> {
  %y = dl.reduce_prod %x over [1] : (tensor<3x70xi64>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}
