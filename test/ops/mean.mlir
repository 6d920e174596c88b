// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @mean(
// CHECK: dl.mean %{{.*}} over [1] : (tensor<3x4xf32>) -> tensor<3xf32>
func.func @mean(%x: tensor<3x4xf32>) -> tensor<3xf32> attributes {dl.check_gradient} {
  %y = dl.mean %x over [1] : (tensor<3x4xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @values(
    %x: tensor<2x2xf64> {dl.value = dense<[[1.0,2.0],[3.0,6.0]]> : tensor<2x2xf64>}) -> tensor<f64>
    attributes {dl.expect = dense<3.0> : tensor<f64>, dl.check_gradient} {
  %y = dl.mean %x over [0, 1] : (tensor<2x2xf64>) -> tensor<f64>
  return %y : tensor<f64>
}

// SHAPE-01
func.func @empty_axis(
    %x: tensor<2x0xf64> {dl.value = dense<> : tensor<2x0xf64>}) -> tensor<2xf64>
    attributes {dl.expect = dense<0x7FF8000000000000> : tensor<2xf64>} {
  %y = dl.mean %x over [1] : (tensor<2x0xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @size_row_of_one(%x: tensor<3x1xf32>) -> tensor<3xf32> {
  %y = dl.mean %x over [1] : (tensor<3x1xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_rows_of_17(%x: tensor<5x17xf32>) -> tensor<5xf32> {
  %y = dl.mean %x over [1] : (tensor<5x17xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

func.func @size_rows_of_100(%x: tensor<7x100xf32>) -> tensor<7xf32> {
  %y = dl.mean %x over [1] : (tensor<7x100xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

func.func @size_two_inner_axes(%x: tensor<3x9x11xf32>) -> tensor<3xf32> {
  %y = dl.mean %x over [1, 2] : (tensor<3x9x11xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_long_row(%x: tensor<2x40000xf32>) -> tensor<2xf32> {
  %y = dl.mean %x over [1] : (tensor<2x40000xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @size_everything(%x: tensor<37x53xf32>) -> tensor<f32> {
  %y = dl.mean %x over [0, 1] : (tensor<37x53xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

func.func @size_column(%x: tensor<300x17xf32>) -> tensor<17xf32> {
  %y = dl.mean %x over [0] : (tensor<300x17xf32>) -> tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @size_leading_axes(%x: tensor<5x3x70xf32>) -> tensor<3xf32> {
  %y = dl.mean %x over [0, 2] : (tensor<5x3x70xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_middle_axis(%x: tensor<3x19x18xf32>) -> tensor<3x18xf32> {
  %y = dl.mean %x over [1] : (tensor<3x19x18xf32>) -> tensor<3x18xf32>
  return %y : tensor<3x18xf32>
}
