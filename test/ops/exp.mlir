// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @exp(
// CHECK: dl.exp %{{.*}} : tensor<17xf32>
func.func @exp(%x: tensor<17xf32> {dl.test = "any"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.exp %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "any"}) -> tensor<1xf32> {
  %y = dl.exp %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "any"}) -> tensor<5x67xf32> {
  %y = dl.exp %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "any"}) -> tensor<19xf64> {
  %y = dl.exp %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @special(%x: tensor<7xf32> {dl.value = dense<[0.0, 1.0, 0xFF800000, 0x7F800000, 0x7FC00000, 1000.0, -1000.0]> : tensor<7xf32>}) -> tensor<7xf32> attributes {dl.expect = dense<[1.0, 2.718281828459045, 0.0, 0x7F800000, 0x7FC00000, 0x7F800000, 0.0]> : tensor<7xf32>} {
  %y = dl.exp %x : tensor<7xf32>
  return %y : tensor<7xf32>
}
