// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @ceil(
// CHECK: dl.ceil %{{.*}} : tensor<17xf32>
func.func @ceil(%x: tensor<17xf32>) -> tensor<17xf32> {
  %y = dl.ceil %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32>) -> tensor<1xf32> {
  %y = dl.ceil %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32>) -> tensor<5x67xf32> {
  %y = dl.ceil %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64>) -> tensor<19xf64> {
  %y = dl.ceil %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @special(%x: tensor<5xf32> {dl.value = dense<[-1.5, 1.5, 0xFF800000, 0x7FC00000, 1073741824.0]> : tensor<5xf32>}) -> tensor<5xf32> attributes {dl.expect = dense<[-1.0, 2.0, 0xFF800000, 0x7FC00000, 1073741824.0]> : tensor<5xf32>} {
  %y = dl.ceil %x : tensor<5xf32>
  return %y : tensor<5xf32>
}
