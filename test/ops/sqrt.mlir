// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @sqrt(
// CHECK: dl.sqrt %{{.*}} : tensor<17xf32>
func.func @sqrt(%x: tensor<17xf32> {dl.test = "positive"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.sqrt %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "positive"}) -> tensor<1xf32> {
  %y = dl.sqrt %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "positive"}) -> tensor<5x67xf32> {
  %y = dl.sqrt %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "positive"}) -> tensor<19xf64> {
  %y = dl.sqrt %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @special(%x: tensor<5xf32> {dl.value = dense<[4.0, 0.0, -1.0, 0x7F800000, 0x7FC00000]> : tensor<5xf32>}) -> tensor<5xf32> attributes {dl.expect = dense<[2.0, 0.0, 0x7FC00000, 0x7F800000, 0x7FC00000]> : tensor<5xf32>} {
  %y = dl.sqrt %x : tensor<5xf32>
  return %y : tensor<5xf32>
}
