// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @round_even(
// CHECK: dl.round_even %{{.*}} : tensor<17xf32>
func.func @round_even(%x: tensor<17xf32>) -> tensor<17xf32> {
  %y = dl.round_even %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32>) -> tensor<1xf32> {
  %y = dl.round_even %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32>) -> tensor<5x67xf32> {
  %y = dl.round_even %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64>) -> tensor<19xf64> {
  %y = dl.round_even %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @half_to_even(%x: tensor<7xf32> {dl.value = dense<[0.5, 1.5, 2.5, -0.5, -1.5, 0x7FC00000, 0x7F800000]> : tensor<7xf32>}) -> tensor<7xf32> attributes {dl.expect = dense<[0.0, 2.0, 2.0, 0.0, -2.0, 0x7FC00000, 0x7F800000]> : tensor<7xf32>} {
  %y = dl.round_even %x : tensor<7xf32>
  return %y : tensor<7xf32>
}
