// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @argmin(
// CHECK: dl.argmin %{{.*}} over [1] : (tensor<3x4xf32>) -> tensor<3xi64>
// NUM-19
func.func @argmin(
    %x: tensor<3x4xf32> {dl.value = dense<[[1.0,4.0,4.0,2.0],[1.0,0x7FC00000,5.0,0x7FC00000],[3.0,3.0,3.0,3.0]]> : tensor<3x4xf32>}) -> tensor<3xi64>
    attributes {dl.expect = dense<[0,1,0]> : tensor<3xi64>} {
  %y = dl.argmin %x over [1] : (tensor<3x4xf32>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}

// NUM-19
func.func @sixteen_equal(
    %x: tensor<16xf32> {dl.value = dense<2.0> : tensor<16xf32>}) -> tensor<i64>
    attributes {dl.expect = dense<0> : tensor<i64>} {
  %y = dl.argmin %x over [0] : (tensor<16xf32>) -> tensor<i64>
  return %y : tensor<i64>
}

func.func @flat_position(
    %x: tensor<2x3xi32> {dl.value = dense<[[1,2,-7],[9,0,9]]> : tensor<2x3xi32>}) -> tensor<i64>
    attributes {dl.expect = dense<2> : tensor<i64>} {
  %y = dl.argmin %x over [0, 1] : (tensor<2x3xi32>) -> tensor<i64>
  return %y : tensor<i64>
}

func.func @only_infinities(
    %x: tensor<3xf64> {dl.value = dense<[0x7FF0000000000000,0x7FF0000000000000,0x7FF0000000000000]> : tensor<3xf64>}) -> tensor<i64>
    attributes {dl.expect = dense<0> : tensor<i64>} {
  %y = dl.argmin %x over [0] : (tensor<3xf64>) -> tensor<i64>
  return %y : tensor<i64>
}

func.func @extreme_integers(
    %x: tensor<2xi64> {dl.value = dense<[9223372036854775807,9223372036854775807]> : tensor<2xi64>}) -> tensor<i64>
    attributes {dl.expect = dense<0> : tensor<i64>} {
  %y = dl.argmin %x over [0] : (tensor<2xi64>) -> tensor<i64>
  return %y : tensor<i64>
}

func.func @size_row_of_one(%x: tensor<3x1xf32>) -> tensor<3xi64> {
  %y = dl.argmin %x over [1] : (tensor<3x1xf32>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}

func.func @size_rows_of_17(%x: tensor<5x17xf32>) -> tensor<5xi64> {
  %y = dl.argmin %x over [1] : (tensor<5x17xf32>) -> tensor<5xi64>
  return %y : tensor<5xi64>
}

func.func @size_rows_of_100(%x: tensor<7x100xf32>) -> tensor<7xi64> {
  %y = dl.argmin %x over [1] : (tensor<7x100xf32>) -> tensor<7xi64>
  return %y : tensor<7xi64>
}

func.func @size_two_inner_axes(%x: tensor<3x9x11xf32>) -> tensor<3xi64> {
  %y = dl.argmin %x over [1, 2] : (tensor<3x9x11xf32>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}

func.func @size_long_row(%x: tensor<2x40000xf32>) -> tensor<2xi64> {
  %y = dl.argmin %x over [1] : (tensor<2x40000xf32>) -> tensor<2xi64>
  return %y : tensor<2xi64>
}

func.func @size_everything(%x: tensor<37x53xf32>) -> tensor<i64> {
  %y = dl.argmin %x over [0, 1] : (tensor<37x53xf32>) -> tensor<i64>
  return %y : tensor<i64>
}

func.func @size_column(%x: tensor<300x17xf32>) -> tensor<17xi64> {
  %y = dl.argmin %x over [0] : (tensor<300x17xf32>) -> tensor<17xi64>
  return %y : tensor<17xi64>
}

func.func @size_leading_axes(%x: tensor<5x3x70xf32>) -> tensor<3xi64> {
  %y = dl.argmin %x over [0, 2] : (tensor<5x3x70xf32>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}

func.func @size_middle_axis(%x: tensor<3x19x18xf32>) -> tensor<3x18xi64> {
  %y = dl.argmin %x over [1] : (tensor<3x19x18xf32>) -> tensor<3x18xi64>
  return %y : tensor<3x18xi64>
}

func.func @size_i8(%x: tensor<3x70xi8>) -> tensor<3xi64> {
  %y = dl.argmin %x over [1] : (tensor<3x70xi8>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}

func.func @size_i32(%x: tensor<3x70xi32>) -> tensor<3xi64> {
  %y = dl.argmin %x over [1] : (tensor<3x70xi32>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}

func.func @size_i64(%x: tensor<3x70xi64>) -> tensor<3xi64> {
  %y = dl.argmin %x over [1] : (tensor<3x70xi64>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}
