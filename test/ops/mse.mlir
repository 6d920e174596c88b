// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @mse(
// CHECK: dl.mse %{{.*}}, %{{.*}} {reduction = #dl.loss_reduction<sum>} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<f32>
func.func @mse(%x: tensor<3x4xf32>, %t: tensor<3x4xf32>) -> tensor<f32> attributes {dl.check_gradient} {
  %y = dl.mse %x, %t {reduction = #dl.loss_reduction<sum>} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

func.func @mean(
    %x: tensor<2xf64> {dl.value = dense<[1.0,4.0]> : tensor<2xf64>},
    %t: tensor<2xf64> {dl.value = dense<[0.0,1.0]> : tensor<2xf64>}) -> tensor<f64>
    attributes {dl.expect = dense<5.0> : tensor<f64>, dl.check_gradient} {
  %y = dl.mse %x, %t : (tensor<2xf64>, tensor<2xf64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @each(
    %x: tensor<2xf64> {dl.value = dense<[1.0,4.0]> : tensor<2xf64>},
    %t: tensor<2xf64> {dl.value = dense<[0.0,1.0]> : tensor<2xf64>}) -> tensor<2xf64>
    attributes {dl.expect = dense<[1.0,9.0]> : tensor<2xf64>, dl.check_gradient} {
  %y = dl.mse %x, %t {reduction = #dl.loss_reduction<none>} : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @size_1000(%x: tensor<10x100xf32>, %t: tensor<10x100xf32>) -> tensor<f32> {
  %y = dl.mse %x, %t : (tensor<10x100xf32>, tensor<10x100xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

func.func @size_each(%x: tensor<3x17xf32>, %t: tensor<3x17xf32>) -> tensor<3x17xf32> {
  %y = dl.mse %x, %t {reduction = #dl.loss_reduction<none>} : (tensor<3x17xf32>, tensor<3x17xf32>) -> tensor<3x17xf32>
  return %y : tensor<3x17xf32>
}
