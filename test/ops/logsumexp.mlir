// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @logsumexp(
// CHECK: dl.logsumexp %{{.*}} over [1] : (tensor<3x4xf32>) -> tensor<3xf32>
func.func @logsumexp(%x: tensor<3x4xf32>) -> tensor<3xf32> attributes {dl.check_gradient} {
  %y = dl.logsumexp %x over [1] : (tensor<3x4xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @large(
    %x: tensor<2xf64> {dl.value = dense<[1000.0,1000.0]> : tensor<2xf64>}) -> tensor<f64>
    attributes {dl.expect = dense<1000.6931471805599> : tensor<f64>} {
  %y = dl.logsumexp %x over [0] : (tensor<2xf64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @infinities(
    %x: tensor<3x2xf64> {dl.value = dense<[[0xFFF0000000000000,0xFFF0000000000000],[0x7FF0000000000000,0.0],[0xFFF0000000000000,1.0]]> : tensor<3x2xf64>}) -> tensor<3xf64>
    attributes {dl.expect = dense<[0xFFF0000000000000,0x7FF0000000000000,1.0]> : tensor<3xf64>} {
  %y = dl.logsumexp %x over [1] : (tensor<3x2xf64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @second_order(%x: tensor<2x3xf64> {dl.test = "any"}) -> tensor<2x3xf64> attributes {dl.check_gradient} {
  %y = dl.logsumexp %x over [1] : (tensor<2x3xf64>) -> tensor<2xf64>
  %y2 = dl.mul %y, %y : tensor<2xf64>
  %s = dl.reduce_sum %y2 over [0] : (tensor<2xf64>) -> tensor<f64>
  %g = dl.gradient %s wrt %x : tensor<f64>, tensor<2x3xf64>
  return %g : tensor<2x3xf64>
}

func.func @all_minus_infinity(
    %x: tensor<2xf64> {dl.value = dense<[0xFFF0000000000000,0xFFF0000000000000]> : tensor<2xf64>}) -> tensor<2xf64>
    attributes {dl.expect = dense<[0.0,0.0]> : tensor<2xf64>} {
  %y = dl.logsumexp %x over [0] : (tensor<2xf64>) -> tensor<f64>
  %g = dl.gradient %y wrt %x : tensor<f64>, tensor<2xf64>
  return %g : tensor<2xf64>
}

func.func @size_row_of_one(%x: tensor<3x1xf32>) -> tensor<3xf32> {
  %y = dl.logsumexp %x over [1] : (tensor<3x1xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_rows_of_17(%x: tensor<5x17xf32>) -> tensor<5xf32> {
  %y = dl.logsumexp %x over [1] : (tensor<5x17xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

func.func @size_rows_of_100(%x: tensor<7x100xf32>) -> tensor<7xf32> {
  %y = dl.logsumexp %x over [1] : (tensor<7x100xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

func.func @size_two_inner_axes(%x: tensor<3x9x11xf32>) -> tensor<3xf32> {
  %y = dl.logsumexp %x over [1, 2] : (tensor<3x9x11xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_long_row(%x: tensor<2x40000xf32>) -> tensor<2xf32> {
  %y = dl.logsumexp %x over [1] : (tensor<2x40000xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @size_everything(%x: tensor<37x53xf32>) -> tensor<f32> {
  %y = dl.logsumexp %x over [0, 1] : (tensor<37x53xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

func.func @size_column(%x: tensor<300x17xf32>) -> tensor<17xf32> {
  %y = dl.logsumexp %x over [0] : (tensor<300x17xf32>) -> tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @size_leading_axes(%x: tensor<5x3x70xf32>) -> tensor<3xf32> {
  %y = dl.logsumexp %x over [0, 2] : (tensor<5x3x70xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

func.func @size_middle_axis(%x: tensor<3x19x18xf32>) -> tensor<3x18xf32> {
  %y = dl.logsumexp %x over [1] : (tensor<3x19x18xf32>) -> tensor<3x18xf32>
  return %y : tensor<3x18xf32>
}
