// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check %s

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
