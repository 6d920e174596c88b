// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @reverse(
// CHECK: dl.reverse %{{.*}} axes [1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @reverse(%x: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {dl.check_gradient} {
  %y = dl.reverse %x axes [1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func @values(
    %x: tensor<2x2xf64> {dl.value = dense<[[1.0,2.0],[3.0,4.0]]> : tensor<2x2xf64>}) -> tensor<2x2xf64>
    attributes {dl.expect = dense<[[4.0,3.0],[2.0,1.0]]> : tensor<2x2xf64>, dl.check_gradient} {
  %y = dl.reverse %x axes [0, 1] : (tensor<2x2xf64>) -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

func.func @no_axes(%x: tensor<3xf64>) -> tensor<3xf64> attributes {dl.check_gradient} {
  %y = dl.reverse %x axes [] : (tensor<3xf64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @size_5x37(%x: tensor<5x37xf32>) -> tensor<5x37xf32> {
  %y = dl.reverse %x axes [0, 1] : (tensor<5x37xf32>) -> tensor<5x37xf32>
  return %y : tensor<5x37xf32>
}
