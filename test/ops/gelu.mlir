// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @gelu(
// CHECK: dl.gelu %{{.*}} : tensor<17xf32>
func.func @gelu(%x: tensor<17xf32> {dl.test = "any"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.gelu %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "any"}) -> tensor<1xf32> {
  %y = dl.gelu %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "any"}) -> tensor<5x67xf32> {
  %y = dl.gelu %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "any"}) -> tensor<19xf64> {
  %y = dl.gelu %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @special(%x: tensor<6xf32> {dl.value = dense<[0.0, 1.0, -2.0, 30.0, -30.0, 0x7FC00000]> : tensor<6xf32>}) -> tensor<6xf32> attributes {dl.expect = dense<[0.0, 0.8413447460685429, -0.04550026389635844, 30.0, 0.0, 0x7FC00000]> : tensor<6xf32>} {
  %y = dl.gelu %x : tensor<6xf32>
  return %y : tensor<6xf32>
}

// CHECK-LABEL: func.func @tanh(
// CHECK: dl.gelu %{{.*}} approximate(tanh) : tensor<17xf32>
func.func @tanh(%x: tensor<17xf32>) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.gelu %x approximate(tanh) : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @tanh_values(%x: tensor<5xf32> {dl.value = dense<[0.0, 1.0, -2.0, 30.0, 0x7FC00000]> : tensor<5xf32>}) -> tensor<5xf32> attributes {dl.expect = dense<[0.0, 0.8411919906082768, -0.04540230591222494, 30.0, 0x7FC00000]> : tensor<5xf32>} {
  %y = dl.gelu %x approximate(tanh) : tensor<5xf32>
  return %y : tensor<5xf32>
}

// Far out x^3 overflows; the derivative stays 0 or 1.
func.func @far(%x: tensor<2xf32> {dl.value = dense<[1.0e+30, -1.0e+30]> : tensor<2xf32>}) -> tensor<2xf32> attributes {dl.expect = dense<[1.0, 0.0]> : tensor<2xf32>} {
  %y = dl.gelu %x : tensor<2xf32>
  %sum = dl.reduce_sum %y over [0] : (tensor<2xf32>) -> tensor<f32>
  %g = dl.gradient %sum wrt %x : tensor<f32>, tensor<2xf32>
  return %g : tensor<2xf32>
}

func.func @far_tanh(%x: tensor<2xf32> {dl.value = dense<[1.0e+30, -1.0e+30]> : tensor<2xf32>}) -> tensor<2xf32> attributes {dl.expect = dense<[1.0, 0.0]> : tensor<2xf32>} {
  %y = dl.gelu %x approximate(tanh) : tensor<2xf32>
  %sum = dl.reduce_sum %y over [0] : (tensor<2xf32>) -> tensor<f32>
  %g = dl.gradient %sum wrt %x : tensor<f32>, tensor<2xf32>
  return %g : tensor<2xf32>
}
