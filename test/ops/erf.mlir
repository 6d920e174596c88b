// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @erf(
// CHECK: dl.erf %{{.*}} : tensor<17xf32>
func.func @erf(%x: tensor<17xf32> {dl.test = "any"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.erf %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "any"}) -> tensor<1xf32> {
  %y = dl.erf %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "any"}) -> tensor<5x67xf32> {
  %y = dl.erf %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "any"}) -> tensor<19xf64> {
  %y = dl.erf %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @special(%x: tensor<6xf32> {dl.value = dense<[0.0, 1.0, 0xFF800000, 0x7F800000, 0x7FC00000, 1.0e-06]> : tensor<6xf32>}) -> tensor<6xf32> attributes {dl.expect = dense<[0.0, 0.8427007929497149, -1.0, 1.0, 0x7FC00000, 1.1283791670951364e-06]> : tensor<6xf32>} {
  %y = dl.erf %x : tensor<6xf32>
  return %y : tensor<6xf32>
}
