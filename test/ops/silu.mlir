// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @silu(
// CHECK: dl.silu %{{.*}} : tensor<17xf32>
func.func @silu(%x: tensor<17xf32> {dl.test = "any"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.silu %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "any"}) -> tensor<1xf32> {
  %y = dl.silu %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "any"}) -> tensor<5x67xf32> {
  %y = dl.silu %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "any"}) -> tensor<19xf64> {
  %y = dl.silu %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @special(%x: tensor<7xf32> {dl.value = dense<[0.0, 2.0, -2.0, -200.0, 200.0, 0x7F800000, 0x7FC00000]> : tensor<7xf32>}) -> tensor<7xf32> attributes {dl.expect = dense<[0.0, 1.7615941559557646, -0.2384058440442351, 0.0, 200.0, 0x7F800000, 0x7FC00000]> : tensor<7xf32>} {
  %y = dl.silu %x : tensor<7xf32>
  return %y : tensor<7xf32>
}
