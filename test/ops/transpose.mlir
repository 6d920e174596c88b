// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @transpose(
// CHECK: dl.transpose %{{.*}} permutation [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> attributes {dl.check_gradient} {
  %y = dl.transpose %x permutation [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %y : tensor<4x2x3xf32>
}

func.func @values(
    %x: tensor<2x3xf64> {dl.value = dense<[[1.0,2.0,3.0],[4.0,5.0,6.0]]> : tensor<2x3xf64>}) -> tensor<3x2xf64>
    attributes {dl.expect = dense<[[1.0,4.0],[2.0,5.0],[3.0,6.0]]> : tensor<3x2xf64>, dl.check_gradient} {
  %y = dl.transpose %x permutation [1, 0] : (tensor<2x3xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @scalar(%x: tensor<f64>) -> tensor<f64> attributes {dl.check_gradient} {
  %y = dl.transpose %x permutation [] : (tensor<f64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @booleans(
    %x: tensor<2x2xi1> {dl.value = dense<[[1,0],[1,1]]> : tensor<2x2xi1>}) -> tensor<2x2xi1>
    attributes {dl.expect = dense<[[1,1],[0,1]]> : tensor<2x2xi1>} {
  %y = dl.transpose %x permutation [1, 0] : (tensor<2x2xi1>) -> tensor<2x2xi1>
  return %y : tensor<2x2xi1>
}

func.func @twice(%x: tensor<2x3x4xf64>) -> tensor<3x2x4xf64> attributes {dl.check_gradient} {
  %a = dl.transpose %x permutation [2, 0, 1] : (tensor<2x3x4xf64>) -> tensor<4x2x3xf64>
  %y = dl.transpose %a permutation [2, 1, 0] : (tensor<4x2x3xf64>) -> tensor<3x2x4xf64>
  return %y : tensor<3x2x4xf64>
}

func.func @size_17x33(%x: tensor<17x33xf32>) -> tensor<33x17xf32> {
  %y = dl.transpose %x permutation [1, 0] : (tensor<17x33xf32>) -> tensor<33x17xf32>
  return %y : tensor<33x17xf32>
}

func.func @size_heads(%x: tensor<2x9x3x16xf32>) -> tensor<2x3x9x16xf32> {
  %y = dl.transpose %x permutation [0, 2, 1, 3] : (tensor<2x9x3x16xf32>) -> tensor<2x3x9x16xf32>
  return %y : tensor<2x3x9x16xf32>
}

func.func @size_bytes(%x: tensor<17x33xi8>) -> tensor<33x17xi8> {
  %y = dl.transpose %x permutation [1, 0] : (tensor<17x33xi8>) -> tensor<33x17xi8>
  return %y : tensor<33x17xi8>
}
