// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @expm1(
// CHECK: dl.expm1 %{{.*}} : tensor<17xf32>
func.func @expm1(%x: tensor<17xf32> {dl.test = "any"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.expm1 %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "any"}) -> tensor<1xf32> {
  %y = dl.expm1 %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "any"}) -> tensor<5x67xf32> {
  %y = dl.expm1 %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "any"}) -> tensor<19xf64> {
  %y = dl.expm1 %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @num15(%x: tensor<5xf32> {dl.value = dense<[1.0e-10, 0xFF800000, 0x7F800000, 0x7FC00000, 1.0]> : tensor<5xf32>}) -> tensor<5xf32> attributes {dl.expect = dense<[1.0e-10, -1.0, 0x7F800000, 0x7FC00000, 1.718281828459045]> : tensor<5xf32>} {
  %y = dl.expm1 %x : tensor<5xf32>
  return %y : tensor<5xf32>
}
