// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @tanh(
// CHECK: dl.tanh %{{.*}} : tensor<17xf32>
func.func @tanh(%x: tensor<17xf32> {dl.test = "any"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.tanh %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "any"}) -> tensor<1xf32> {
  %y = dl.tanh %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "any"}) -> tensor<5x67xf32> {
  %y = dl.tanh %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "any"}) -> tensor<19xf64> {
  %y = dl.tanh %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @num17(%x: tensor<6xf32> {dl.value = dense<[50.0, -50.0, 100.0, 0.0001, 0x7F800000, 0x7FC00000]> : tensor<6xf32>}) -> tensor<6xf32> attributes {dl.expect = dense<[1.0, -1.0, 1.0, 9.9999997e-05, 1.0, 0x7FC00000]> : tensor<6xf32>} {
  %y = dl.tanh %x : tensor<6xf32>
  return %y : tensor<6xf32>
}
