// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @log1p(
// CHECK: dl.log1p %{{.*}} : tensor<17xf32>
func.func @log1p(%x: tensor<17xf32> {dl.test = "positive"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.log1p %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "positive"}) -> tensor<1xf32> {
  %y = dl.log1p %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "positive"}) -> tensor<5x67xf32> {
  %y = dl.log1p %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "positive"}) -> tensor<19xf64> {
  %y = dl.log1p %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @num15(%x: tensor<6xf32> {dl.value = dense<[1.0e-10, 0.0, -1.0, 0x7F800000, 0x7FC00000, -2.0]> : tensor<6xf32>}) -> tensor<6xf32> attributes {dl.expect = dense<[1.0e-10, 0.0, 0xFF800000, 0x7F800000, 0x7FC00000, 0x7FC00000]> : tensor<6xf32>} {
  %y = dl.log1p %x : tensor<6xf32>
  return %y : tensor<6xf32>
}
