// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @cross_entropy(
// CHECK: dl.cross_entropy %{{.*}}, %{{.*}} {label_smoothing = 1.000000e-01 : f64} : (tensor<3x4xf32>, tensor<3xi64>) -> tensor<f32>
func.func @cross_entropy(%x: tensor<3x4xf32>) -> tensor<f32> attributes {dl.check_gradient} {
  %t = dl.constant dense<[0, 3, -100]> : tensor<3xi64>
  %y = dl.cross_entropy %x, %t {label_smoothing = 1.000000e-01 : f64} : (tensor<3x4xf32>, tensor<3xi64>) -> tensor<f32>
  return %y : tensor<f32>
}

// GRAD-15
func.func @smoothing_with_ignored(
    %x: tensor<2x2xf64> {dl.value = dense<[[2.0,0.0],[0.0,1.0]]> : tensor<2x2xf64>}) -> tensor<f64>
    attributes {dl.expect = dense<0.32692801104297257> : tensor<f64>, dl.check_gradient} {
  %t = dl.constant dense<[0, -100]> : tensor<2xi64>
  %y = dl.cross_entropy %x, %t {label_smoothing = 0.2 : f64} : (tensor<2x2xf64>, tensor<2xi64>) -> tensor<f64>
  return %y : tensor<f64>
}

// SHAPE-13, rows in the order of the transposed logits
func.func @sum_of_rows(
    %x: tensor<4x2xf64> {dl.value = dense<[[0.0,0.0],[0.0,10.0],[10.0,0.0],[0.0,0.0]]> : tensor<4x2xf64>}) -> tensor<f64>
    attributes {dl.expect = dense<1.3863851608> : tensor<f64>, dl.check_gradient} {
  %t = dl.constant dense<[0, 1, 0, 0]> : tensor<4xi64>
  %y = dl.cross_entropy %x, %t {reduction = #dl.loss_reduction<sum>} : (tensor<4x2xf64>, tensor<4xi64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @each_row(%x: tensor<3x4xf64>) -> tensor<3xf64> attributes {dl.check_gradient} {
  %t = dl.constant dense<[1, 2, 0]> : tensor<3xi64>
  %y = dl.cross_entropy %x, %t {reduction = #dl.loss_reduction<none>} : (tensor<3x4xf64>, tensor<3xi64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @each_row_smoothed(%x: tensor<3x4xf64>) -> tensor<3xf64> attributes {dl.check_gradient} {
  %t = dl.constant dense<[1, -1, 0]> : tensor<3xi64>
  %y = dl.cross_entropy %x, %t {reduction = #dl.loss_reduction<none>, label_smoothing = 0.3 : f64} : (tensor<3x4xf64>, tensor<3xi64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @out_of_range_counts_for_nothing(
    %x: tensor<3x2xf64> {dl.value = dense<[[5.0,1.0],[2.0,3.0],[0.0,0.0]]> : tensor<3x2xf64>}) -> tensor<f64>
    attributes {dl.expect = dense<0.69314718055994529> : tensor<f64>, dl.check_gradient} {
  %t = dl.constant dense<[2, -1, 1]> : tensor<3xi64>
  %y = dl.cross_entropy %x, %t : (tensor<3x2xf64>, tensor<3xi64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @other_ignore_index(
    %x: tensor<2x2xf64> {dl.value = dense<[[5.0,1.0],[0.0,0.0]]> : tensor<2x2xf64>}) -> tensor<f64>
    attributes {dl.expect = dense<0.69314718055994529> : tensor<f64>, dl.check_gradient} {
  %t = dl.constant dense<[1, 0]> : tensor<2xi64>
  %y = dl.cross_entropy %x, %t {ignore_index = 1 : i64} : (tensor<2x2xf64>, tensor<2xi64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @all_ignored(
    %x: tensor<1x2xf64>) -> tensor<f64>
    attributes {dl.expect = dense<0x7FF8000000000000> : tensor<f64>} {
  %t = dl.constant dense<[-100]> : tensor<1xi64>
  %y = dl.cross_entropy %x, %t : (tensor<1x2xf64>, tensor<1xi64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @nan_in_an_ignored_row(
    %x: tensor<2x2xf64> {dl.value = dense<[[0x7FF8000000000000,0.0],[0.0,0.0]]> : tensor<2x2xf64>}) -> tensor<2x2xf64>
    attributes {dl.expect = dense<[[0.0,0.0],[0.5,-0.5]]> : tensor<2x2xf64>} {
  %t = dl.constant dense<[-100, 1]> : tensor<2xi64>
  %y = dl.cross_entropy %x, %t : (tensor<2x2xf64>, tensor<2xi64>) -> tensor<f64>
  %g = dl.gradient %y wrt %x : tensor<f64>, tensor<2x2xf64>
  return %g : tensor<2x2xf64>
}

func.func @second_order(%x: tensor<2x3xf64>) -> tensor<2x3xf64> attributes {dl.check_gradient} {
  %t = dl.constant dense<[2, 0]> : tensor<2xi64>
  %y = dl.cross_entropy %x, %t {label_smoothing = 0.1 : f64} : (tensor<2x3xf64>, tensor<2xi64>) -> tensor<f64>
  %g = dl.gradient %y wrt %x : tensor<f64>, tensor<2x3xf64>
  return %g : tensor<2x3xf64>
}

func.func @size_64x10(%x: tensor<64x10xf32>) -> tensor<f32> {
  %t = dl.constant dense<[0, 7, 4, 1, 8, 5, 2, 9, 6, 3, 0, 7, 4, 1, 8, 5, 2, 9, 6, 3, 0, 7, 4, 1, 8, 5, 2, 9, 6, 3, 0, 7, 4, 1, 8, 5, 2, 9, 6, 3, 0, 7, 4, 1, 8, 5, 2, 9, 6, 3, 0, 7, 4, 1, 8, 5, 2, 9, 6, 3, 0, 7, 4, 1]> : tensor<64xi64>
  %y = dl.cross_entropy %x, %t : (tensor<64x10xf32>, tensor<64xi64>) -> tensor<f32>
  return %y : tensor<f32>
}

func.func @size_none(%x: tensor<33x17xf32>) -> tensor<33xf32> {
  %t = dl.constant dense<[-100, 5, 10, 15, -100, 8, 13, 1, -100, 11, 16, 4, -100, 14, 2, 7, -100, 0, 5, 10, -100, 3, 8, 13, -100, 6, 11, 16, -100, 9, 14, 2, -100]> : tensor<33xi64>
  %y = dl.cross_entropy %x, %t {reduction = #dl.loss_reduction<none>} : (tensor<33x17xf32>, tensor<33xi64>) -> tensor<33xf32>
  return %y : tensor<33xf32>
}
