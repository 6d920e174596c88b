// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @is_finite(
// CHECK: dl.is_finite %{{.*}} : tensor<17xf32>
func.func @is_finite(%x: tensor<17xf32>) -> tensor<17xi1> {
  %y = dl.is_finite %x : tensor<17xf32>
  return %y : tensor<17xi1>
}

func.func @large(%x: tensor<5x67xf64>) -> tensor<5x67xi1> {
  %y = dl.is_finite %x : tensor<5x67xf64>
  return %y : tensor<5x67xi1>
}

func.func @special(%x: tensor<5xf32> {dl.value = dense<[0x7F800000, 0xFF800000, 0x7FC00000, 3.4028234e+38, 0.0]> : tensor<5xf32>}) -> tensor<5xi1> attributes {dl.expect = dense<[false, false, false, true, true]> : tensor<5xi1>} {
  %y = dl.is_finite %x : tensor<5xf32>
  return %y : tensor<5xi1>
}
