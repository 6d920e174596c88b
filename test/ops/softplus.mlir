// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @softplus(
// CHECK: dl.softplus %{{.*}} : tensor<17xf32>
func.func @softplus(%x: tensor<17xf32> {dl.test = "any"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.softplus %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "any"}) -> tensor<1xf32> {
  %y = dl.softplus %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "any"}) -> tensor<5x67xf32> {
  %y = dl.softplus %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "any"}) -> tensor<19xf64> {
  %y = dl.softplus %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @num15(%x: tensor<7xf32> {dl.value = dense<[-20.0, 0.0, 100.0, -200.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<7xf32>}) -> tensor<7xf32> attributes {dl.expect = dense<[2.0611536e-09, 0.6931471805599453, 100.0, 0.0, 0x7F800000, 0.0, 0x7FC00000]> : tensor<7xf32>} {
  %y = dl.softplus %x : tensor<7xf32>
  return %y : tensor<7xf32>
}
