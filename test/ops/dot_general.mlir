// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check %s

// CHECK-LABEL: func.func @dot_general(
// CHECK: dl.dot_general %{{.*}}, %{{.*}} batch [0] x [1] contract [2] x [0] : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x5xf32>
func.func @dot_general(
    %a: tensor<2x3x4xf32>,
    %b: tensor<4x2x5xf32>) -> tensor<2x3x5xf32>
    attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [0] x [1] contract [2] x [0] : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

func.func @values(
    %a: tensor<2x2xf64> {dl.value = dense<[[1.0,2.0],[3.0,4.0]]> : tensor<2x2xf64>},
    %b: tensor<2x2xf64> {dl.value = dense<[[5.0,6.0],[7.0,8.0]]> : tensor<2x2xf64>}) -> tensor<2x2xf64>
    attributes {dl.expect = dense<[[19.0,22.0],[43.0,50.0]]> : tensor<2x2xf64>, dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

func.func @transposed(%a: tensor<4x3xf64>, %b: tensor<5x4xf64>) -> tensor<3x5xf64> attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [0] x [1] : (tensor<4x3xf64>, tensor<5x4xf64>) -> tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

func.func @two_contracted_crosswise(
    %a: tensor<3x2x5xf64>,
    %b: tensor<5x4x2xf64>) -> tensor<3x4xf64>
    attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [1, 2] x [2, 0] : (tensor<3x2x5xf64>, tensor<5x4x2xf64>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

func.func @two_batches_out_of_order(
    %a: tensor<2x3x4xf64>,
    %b: tensor<3x2x5x4xf64>) -> tensor<3x2x5xf64>
    attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [1, 0] x [0, 1] contract [2] x [3] : (tensor<2x3x4xf64>, tensor<3x2x5x4xf64>) -> tensor<3x2x5xf64>
  return %y : tensor<3x2x5xf64>
}

func.func @outer(%a: tensor<3xf64>, %b: tensor<2xf64>) -> tensor<3x2xf64> attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [] x [] : (tensor<3xf64>, tensor<2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @inner(%a: tensor<5xf64>, %b: tensor<5xf64>) -> tensor<f64> attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [0] x [0] : (tensor<5xf64>, tensor<5xf64>) -> tensor<f64>
  return %y : tensor<f64>
}

// SHAPE-01
func.func @empty_sum(
    %a: tensor<2x0xf64> {dl.value = dense<> : tensor<2x0xf64>},
    %b: tensor<0x2xf64> {dl.value = dense<> : tensor<0x2xf64>}) -> tensor<2x2xf64>
    attributes {dl.expect = dense<0.0> : tensor<2x2xf64>} {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<2x0xf64>, tensor<0x2xf64>) -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

// SHAPE-03
func.func @empty_batched(%a: tensor<3x0x0xf64>, %b: tensor<0x0xf64>) -> tensor<3x0x0xf64> {
  %y = dl.dot_general %a, %b batch [] x [] contract [2] x [0] : (tensor<3x0x0xf64>, tensor<0x0xf64>) -> tensor<3x0x0xf64>
  return %y : tensor<3x0x0xf64>
}

func.func @second_order(
    %a: tensor<2x3xf64>,
    %b: tensor<3x2xf64>) -> (tensor<2x3xf64>, tensor<3x2xf64>)
    attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<2x3xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
  %y2 = dl.mul %y, %y : tensor<2x2xf64>
  %s = dl.reduce_sum %y2 over [0, 1] : (tensor<2x2xf64>) -> tensor<f64>
  %g:2 = dl.gradient %s wrt %a, %b : tensor<f64>, tensor<2x3xf64>, tensor<3x2xf64>
  return %g#0, %g#1 : tensor<2x3xf64>, tensor<3x2xf64>
}
