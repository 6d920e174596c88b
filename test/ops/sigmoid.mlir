// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @sigmoid(
// CHECK: dl.sigmoid %{{.*}} : tensor<17xf32>
func.func @sigmoid(%x: tensor<17xf32> {dl.test = "any"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.sigmoid %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "any"}) -> tensor<1xf32> {
  %y = dl.sigmoid %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "any"}) -> tensor<5x67xf32> {
  %y = dl.sigmoid %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "any"}) -> tensor<19xf64> {
  %y = dl.sigmoid %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @special(%x: tensor<8xf32> {dl.value = dense<[0.0, 2.0, -2.0, -200.0, 200.0, 0xFF800000, 0x7F800000, 0x7FC00000]> : tensor<8xf32>}) -> tensor<8xf32> attributes {dl.expect = dense<[0.5, 0.8807970779778823, 0.11920292202211755, 0.0, 1.0, 0.0, 1.0, 0x7FC00000]> : tensor<8xf32>} {
  %y = dl.sigmoid %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
