// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @broadcast(
// CHECK: dl.broadcast %{{.*}} dims [1, 2] : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
func.func @broadcast(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> attributes {dl.check_gradient} {
  %y = dl.broadcast %x dims [1, 2] : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

func.func @stretched(
    %x: tensor<3x1xf64> {dl.value = dense<[[1.0],[2.0],[3.0]]> : tensor<3x1xf64>}) -> tensor<3x2xf64>
    attributes {dl.expect = dense<[[1.0,1.0],[2.0,2.0],[3.0,3.0]]> : tensor<3x2xf64>, dl.check_gradient} {
  %y = dl.broadcast %x dims [0, 1] : (tensor<3x1xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @from_scalar(%x: tensor<f64>) -> tensor<2x3xf64> attributes {dl.check_gradient} {
  %y = dl.broadcast %x dims [] : (tensor<f64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @to_empty(%x: tensor<3xf64>) -> tensor<0x3xf64> attributes {dl.check_gradient} {
  %y = dl.broadcast %x dims [1] : (tensor<3xf64>) -> tensor<0x3xf64>
  return %y : tensor<0x3xf64>
}

// GRAD-03: the branch not taken is infinite before it is broadcast.
func.func @mask_moves_with_the_gradient(
    %x: tensor<1xf64> {dl.value = dense<[100.0]> : tensor<1xf64>}) -> tensor<1xf64>
    attributes {dl.expect = dense<[2.0]> : tensor<1xf64>} {
  %zero = dl.constant dense<0.0> : tensor<2xf64>
  %b = dl.broadcast %x dims [0] : (tensor<1xf64>) -> tensor<2xf64>
  %one = dl.constant dense<1.0> : tensor<2xf64>
  %never = dl.compare le, %b, %zero : tensor<2xf64>
  %huge = dl.constant dense<1000.0> : tensor<1xf64>
  %e = dl.mul %x, %huge : tensor<1xf64>
  %exp = dl.exp %e : tensor<1xf64>
  %spread = dl.broadcast %exp dims [0] : (tensor<1xf64>) -> tensor<2xf64>
  %plus = dl.add %b, %one : tensor<2xf64>
  %y = dl.select %never, %spread, %plus : tensor<2xf64>
  %s = dl.reduce_sum %y over [0] : (tensor<2xf64>) -> tensor<f64>
  %g = dl.gradient %s wrt %x : tensor<f64>, tensor<1xf64>
  return %g : tensor<1xf64>
}

func.func @size_bias(%x: tensor<17xf32>) -> tensor<33x17xf32> {
  %y = dl.broadcast %x dims [1] : (tensor<17xf32>) -> tensor<33x17xf32>
  return %y : tensor<33x17xf32>
}

func.func @size_column(%x: tensor<33xf32>) -> tensor<33x17xf32> {
  %y = dl.broadcast %x dims [0] : (tensor<33xf32>) -> tensor<33x17xf32>
  return %y : tensor<33x17xf32>
}

func.func @size_channel(%x: tensor<16xf32>) -> tensor<2x16x5x5xf32> {
  %y = dl.broadcast %x dims [1] : (tensor<16xf32>) -> tensor<2x16x5x5xf32>
  return %y : tensor<2x16x5x5xf32>
}

func.func @size_booleans(%x: tensor<33x1xi1>) -> tensor<33x17xi1> {
  %y = dl.broadcast %x dims [0, 1] : (tensor<33x1xi1>) -> tensor<33x17xi1>
  return %y : tensor<33x17xi1>
}
