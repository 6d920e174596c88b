// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @concat(
// CHECK: dl.concat %{{.*}}, %{{.*}} axis 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<2x7xf32> attributes {dl.check_gradient} {
  %y = dl.concat %a, %b axis 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  return %y : tensor<2x7xf32>
}

func.func @values_with_an_empty_input(
    %a: tensor<1x2xf64> {dl.value = dense<[[1.0,2.0]]> : tensor<1x2xf64>},
    %b: tensor<0x2xf64>,
    %c: tensor<2x2xf64> {dl.value = dense<[[3.0,4.0],[5.0,6.0]]> : tensor<2x2xf64>}) -> tensor<3x2xf64>
    attributes {dl.expect = dense<[[1.0,2.0],[3.0,4.0],[5.0,6.0]]> : tensor<3x2xf64>, dl.check_gradient} {
  %y = dl.concat %a, %b, %c axis 0 : (tensor<1x2xf64>, tensor<0x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @one_input(%a: tensor<3xf64>) -> tensor<3xf64> attributes {dl.check_gradient} {
  %y = dl.concat %a axis 0 : (tensor<3xf64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @same_input_twice(%a: tensor<3xf64>) -> tensor<6xf64> attributes {dl.check_gradient} {
  %y = dl.concat %a, %a axis 0 : (tensor<3xf64>, tensor<3xf64>) -> tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @size_17_and_20(%a: tensor<5x17xf32>, %b: tensor<5x20xf32>) -> tensor<5x37xf32> {
  %y = dl.concat %a, %b axis 1 : (tensor<5x17xf32>, tensor<5x20xf32>) -> tensor<5x37xf32>
  return %y : tensor<5x37xf32>
}
