// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @slice(
// CHECK: dl.slice %{{.*}} starts [1, 0] limits [4, 6] strides [1, 2] : (tensor<5x6xf32>) -> tensor<3x3xf32>
func.func @slice(%x: tensor<5x6xf32>) -> tensor<3x3xf32> attributes {dl.check_gradient} {
  %y = dl.slice %x starts [1, 0] limits [4, 6] strides [1, 2] : (tensor<5x6xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

func.func @strided(
    %x: tensor<7xf64> {dl.value = dense<[0.0,1.0,2.0,3.0,4.0,5.0,6.0]> : tensor<7xf64>}) -> tensor<3xf64>
    attributes {dl.expect = dense<[1.0,3.0,5.0]> : tensor<3xf64>, dl.check_gradient} {
  %y = dl.slice %x starts [1] limits [6] strides [2] : (tensor<7xf64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @unused_tail(%x: tensor<6x5xf64>) -> tensor<2x2xf64> attributes {dl.check_gradient} {
  %y = dl.slice %x starts [0, 1] limits [5, 4] strides [3, 2] : (tensor<6x5xf64>) -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

func.func @empty(%x: tensor<3xf64>) -> tensor<0xf64> attributes {dl.check_gradient} {
  %y = dl.slice %x starts [2] limits [2] strides [1] : (tensor<3xf64>) -> tensor<0xf64>
  return %y : tensor<0xf64>
}

func.func @twice(%x: tensor<12xf64>) -> tensor<2xf64> attributes {dl.check_gradient} {
  %a = dl.slice %x starts [1] limits [12] strides [2] : (tensor<12xf64>) -> tensor<6xf64>
  %y = dl.slice %a starts [1] limits [6] strides [3] : (tensor<6xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @size_rows(%x: tensor<21x33xf32>) -> tensor<17x33xf32> {
  %y = dl.slice %x starts [3, 0] limits [20, 33] strides [1, 1] : (tensor<21x33xf32>) -> tensor<17x33xf32>
  return %y : tensor<17x33xf32>
}

func.func @size_strided(%x: tensor<21x33xf32>) -> tensor<7x16xf32> {
  %y = dl.slice %x starts [1, 2] limits [21, 33] strides [3, 2] : (tensor<21x33xf32>) -> tensor<7x16xf32>
  return %y : tensor<7x16xf32>
}
