// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @reduce_min(
// CHECK: dl.reduce_min %{{.*}} over [0, 2] : (tensor<3x4x5xf32>) -> tensor<4xf32>
func.func @reduce_min(%x: tensor<3x4x5xf32> {dl.test = "distinct"}) -> tensor<4xf32> attributes {dl.check_gradient} {
  %y = dl.reduce_min %x over [0, 2] : (tensor<3x4x5xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// NUM-05
func.func @nan_wins(
    %x: tensor<3x3xf64> {dl.value = dense<[[1.0,0x7FF8000000000000,2.0],[0x7FF8000000000000,1.0,2.0],[1.0,5.0,2.0]]> : tensor<3x3xf64>}) -> tensor<3xf64>
    attributes {dl.expect = dense<[0x7FF8000000000000,0x7FF8000000000000,1.0]> : tensor<3xf64>} {
  %y = dl.reduce_min %x over [1] : (tensor<3x3xf64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @infinities(
    %x: tensor<2xf64> {dl.value = dense<[0x7FF0000000000000,0x7FF0000000000000]> : tensor<2xf64>}) -> tensor<f64>
    attributes {dl.expect = dense<0x7FF0000000000000> : tensor<f64>} {
  %y = dl.reduce_min %x over [0] : (tensor<2xf64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @integers(
    %x: tensor<3xi32> {dl.value = dense<[-2147483648,3,2147483647]> : tensor<3xi32>}) -> tensor<i32>
    attributes {dl.expect = dense<-2147483648> : tensor<i32>} {
  %y = dl.reduce_min %x over [0] : (tensor<3xi32>) -> tensor<i32>
  return %y : tensor<i32>
}

func.func @second_order(%x: tensor<2x3xf64> {dl.test = "distinct"}) -> tensor<2x3xf64> attributes {dl.check_gradient} {
  %y = dl.reduce_min %x over [1] : (tensor<2x3xf64>) -> tensor<2xf64>
  %y2 = dl.mul %y, %y : tensor<2xf64>
  %s = dl.reduce_sum %y2 over [0] : (tensor<2xf64>) -> tensor<f64>
  %g = dl.gradient %s wrt %x : tensor<f64>, tensor<2x3xf64>
  return %g : tensor<2x3xf64>
}

// GRAD-11: ties are shared, as by PyTorch's amax.
func.func @ties_share(
    %x: tensor<4xf64> {dl.value = dense<[9.0,9.0,3.0,3.0]> : tensor<4xf64>}) -> tensor<4xf64>
    attributes {dl.expect = dense<[0.0,0.0,0.5,0.5]> : tensor<4xf64>} {
  %y = dl.reduce_min %x over [0] : (tensor<4xf64>) -> tensor<f64>
  %g = dl.gradient %y wrt %x : tensor<f64>, tensor<4xf64>
  return %g : tensor<4xf64>
}

func.func @nan_takes_the_gradient(
    %x: tensor<3xf64> {dl.value = dense<[1.0,0x7FF8000000000000,2.0]> : tensor<3xf64>}) -> tensor<3xf64>
    attributes {dl.expect = dense<[0.0,1.0,0.0]> : tensor<3xf64>} {
  %y = dl.reduce_min %x over [0] : (tensor<3xf64>) -> tensor<f64>
  %g = dl.gradient %y wrt %x : tensor<f64>, tensor<3xf64>
  return %g : tensor<3xf64>
}

func.func @size_row_of_one(%x: tensor<3x1xf32>) -> tensor<3xf32> {
  %y = dl.reduce_min %x over [1] : (tensor<3x1xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_rows_of_17(%x: tensor<5x17xf32>) -> tensor<5xf32> {
  %y = dl.reduce_min %x over [1] : (tensor<5x17xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

func.func @size_rows_of_100(%x: tensor<7x100xf32>) -> tensor<7xf32> {
  %y = dl.reduce_min %x over [1] : (tensor<7x100xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

func.func @size_two_inner_axes(%x: tensor<3x9x11xf32>) -> tensor<3xf32> {
  %y = dl.reduce_min %x over [1, 2] : (tensor<3x9x11xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_long_row(%x: tensor<2x40000xf32>) -> tensor<2xf32> {
  %y = dl.reduce_min %x over [1] : (tensor<2x40000xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @size_everything(%x: tensor<37x53xf32>) -> tensor<f32> {
  %y = dl.reduce_min %x over [0, 1] : (tensor<37x53xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

func.func @size_column(%x: tensor<300x17xf32>) -> tensor<17xf32> {
  %y = dl.reduce_min %x over [0] : (tensor<300x17xf32>) -> tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @size_leading_axes(%x: tensor<5x3x70xf32>) -> tensor<3xf32> {
  %y = dl.reduce_min %x over [0, 2] : (tensor<5x3x70xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_middle_axis(%x: tensor<3x19x18xf32>) -> tensor<3x18xf32> {
  %y = dl.reduce_min %x over [1] : (tensor<3x19x18xf32>) -> tensor<3x18xf32>
  return %y : tensor<3x18xf32>
}

func.func @size_i8(%x: tensor<3x70xi8>) -> tensor<3xi8> {
  %y = dl.reduce_min %x over [1] : (tensor<3x70xi8>) -> tensor<3xi8>
  return %y : tensor<3xi8>
}

func.func @size_i32(%x: tensor<3x70xi32>) -> tensor<3xi32> {
  %y = dl.reduce_min %x over [1] : (tensor<3x70xi32>) -> tensor<3xi32>
  return %y : tensor<3xi32>
}

func.func @size_i64(%x: tensor<3x70xi64>) -> tensor<3xi64> {
  %y = dl.reduce_min %x over [1] : (tensor<3x70xi64>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}
